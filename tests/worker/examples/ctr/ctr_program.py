"""Runs rowan-ctr and makes rows for it: what the tests of the program share."""
import json
import os
import random
import subprocess
import tempfile
import unittest

PROGRAM = os.path.join(os.environ['TEST_SRCDIR'], os.environ['TEST_WORKSPACE'], 'worker/examples/ctr/rowan-ctr')
INTEGERS = 13
CATEGORICALS = 26


def make_rows(count, seed=1, ids=30):
    """`count` rows of 40 fields whose labels follow from their ids and, a little, from their integers."""
    rng = random.Random(seed)
    truth = random.Random(0)  # the same for every seed, so that one set of rows teaches about another
    effect = [[truth.gauss(0, 0.8) for _ in range(ids)] for _ in range(CATEGORICALS)]
    rows = []
    for _ in range(count):
        integers = [rng.choice(('', str(int(rng.lognormvariate(2, 2))), str(-rng.randrange(3)))) for _ in range(INTEGERS)]
        picked = [rng.randrange(ids) for _ in range(CATEGORICALS)]
        logit = sum(effect[c][picked[c]] for c in range(CATEGORICALS)) - 1 + 0.1 * len(integers[0])
        label = '1' if rng.random() < 1 / (1 + 2.718281828 ** -logit) else '0'
        rows.append([label] + integers + ['%08x' % (1000 * c + i) if i else '' for c, i in enumerate(picked)])
    return rows


def text(rows):
    return ''.join('\t'.join(row) + '\n' for row in rows).encode()


class Result:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def __str__(self):
        return f'exit code {self.code}\n-- stdout\n{self.out}\n-- stderr\n{self.err}'


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name
        self.count = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'wb') as file:
            file.write(content)
        return self.path(name)

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_program(self, *words):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, check=False)
        return Result(done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace'))

    def ok(self, *words):
        result = self.run_program(*words)
        self.assertEqual(result.code, 0, f'{words}: {result}')
        return result

    def summary(self, command, *words):
        """Runs the command and returns what it wrote to --summary_json."""
        self.count += 1
        path = self.path(f'summary-{self.count}.json')
        self.ok(command, f'--summary_json={path}', *words)
        with open(path, encoding='utf-8') as file:
            return json.load(file)

    def train(self, data, *words):
        """The summary of a training run that keeps no model unless `words` name one."""
        kept = () if any(word.startswith('--model_dir') for word in words) else ('--model_dir=',)
        small = () if any(word.startswith('--batch_size') for word in words) else ('--batch_size=256',)
        return self.summary('train', f'--data={data}', *kept, *small, *words)

    def refused(self, code, *words):
        """Runs what must fail with `code` and one line on stderr, and returns that line."""
        result = self.run_program(*words)
        self.assertEqual(result.code, code, f'{words}: {result}')
        self.assertEqual(result.out, '', f'{words}: {result}')
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, f'{words}: {result}')
        self.assertTrue(lines[0].startswith('rowan-ctr'), lines[0])
        return lines[0]
