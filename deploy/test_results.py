"""Counts the tests of one `bazel test`.

usage: test_results.py EVENTS EXIT_CODE

EVENTS is the file of --build_event_json_file, EXIT_CODE bazel's own, or 124 if it was stopped for lack of time.
Prints `PASSED FAILED` to stdout and a line for each failure to stderr.
"""
import json
import sys


def main():
    path, exit_code = sys.argv[1], int(sys.argv[2])
    tests, results, unbuilt = set(), {}, set()
    with open(path, encoding='utf-8') as events:
        for line in events:
            try:
                event = json.loads(line)
            except ValueError:  # The last line of a run that was killed.
                continue
            ident = event.get('id', {})
            if 'targetConfigured' in ident and 'testSize' in event.get('configured', {}):
                tests.add(ident['targetConfigured']['label'])
            elif 'testSummary' in ident:
                # An event without its payload stands for a test that was called off.
                status = event.get('testSummary', {}).get('overallStatus', 'NO_STATUS')
                if status == 'FLAKY':  # passed when it was tried again, as its rule allows
                    print(f"FLAKY: {ident['testSummary']['label']}", file=sys.stderr)
                    status = 'PASSED'
                results[ident['testSummary']['label']] = status
            elif 'targetCompleted' in ident and not event.get('completed', {}).get('success'):
                unbuilt.add(ident['targetCompleted']['label'])

    stopped = exit_code == 124
    # What a tag filter left out was built and has no result; what was stopped has neither.
    failures = {test: status for test, status in results.items() if status not in ('PASSED', 'NO_STATUS')}
    if not stopped:
        failures.update({test: 'FAILED TO BUILD' for test in tests & unbuilt if results.get(test) != 'PASSED'})
        failures.update({test: 'DID NOT RUN' for test, status in results.items() if status == 'NO_STATUS'})
    passed = sum(status == 'PASSED' for status in results.values())
    for test in sorted(failures):
        print(f'{failures[test].replace("_", " ")}: {test}', file=sys.stderr)
    failed = len(failures)
    if not failed and not stopped:
        if exit_code != 0:
            print(f'FAILED: the build, bazel exited {exit_code}', file=sys.stderr)
            failed = 1
        elif not passed:
            print('FAILED: there are no tests', file=sys.stderr)
            failed = 1
    print(passed, failed)


if __name__ == '__main__':
    main()
