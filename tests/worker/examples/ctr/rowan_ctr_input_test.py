#!/usr/bin/env -S python3 -B
"""rowan-ctr: flags and rows that are not as they should be."""
import gzip
import os
import unittest

from ctr_program import ProgramTest, make_rows, text


class FlagsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.write('rows.tsv', text(make_rows(100)))

    def test_bad_values_name_flag_value_and_range(self):
        for word, legal in (
                ('--batch_size=0', '1'), ('--batch_size=-5', '1'), ('--batch_size=many', 'integer'),
                ('--batch_size=99999999999999999999', 'integer'), ('--batch_size=', 'integer'), ('--epochs=0', '1'),
                ('--shuffle=all', 'none, window:N or epoch'), ('--shuffle=window:0', 'window:N'),
                ('--shuffle=window:-1', 'window:N'), ('--shuffle=window:', 'window:N'), ('--threads=-1', '0'),
                ('--threads=1025', '1024'), ('--workers=0', '1'), ('--workers=257', '256'), ('--shards=3', 'power of two'),
                ('--shards=0', 'power of two'), ('--shards=131072', '65536'), ('--mode=fast', 'sync, bounded:S'),
                ('--mode=bounded', 'bounded:S'), ('--mode=bounded:-1', 'bounded:S'), ('--max_bad_share=1.1', '1'),
                ('--max_bad_share=nan', '1'), ('--row_learning_rate=-1', '0'), ('--row_learning_rate=inf', '1000'),
                ('--dense_learning_rate=nan', '1000'), ('--seed=-1', ''), ('--pipeline=perhaps', '')):
            line = self.refused(2, 'train', f'--data={self.data}', word)
            self.assertIn(f'{word}: must be', line)
            self.assertIn(legal, line.split('must be')[1])
        self.assertEqual(os.listdir(self.folder), ['rows.tsv'])

    def test_flags_that_do_not_fit(self):
        for words, said in (
                (('train', f'--data={self.data}', '--bach_size=5'), '--bach_size=5: there is no such flag'),
                (('train', f'--data={self.data}', '--seed=1', '--seed=1'), '--seed is given twice'),
                (('train', f'--data={self.data}', '--pipeline', '--nopipeline'), '--pipeline is given twice'),
                (('train',), '--data is required'), (('predict', f'--data={self.data}'), '--out is required'),
                (('generate', '--rows=5'), '--out is required'),
                (('generate', '--rows=-5', '--out=x'), '--rows=-5: must be'),
                (('generate', '--out='), '--out=: must be'),
                (('predict', f'--data={self.data}', '--out='), '--out=: must be'),
                (('evaluate', f'--data={self.data}', '--epochs=2'), 'not of evaluate'),
                (('train', f'--data={self.data}', 'more'), "'more'"), (('learn',), "'learn'"), ((), 'command')):
            self.assertIn(said, self.refused(2, *words))
        self.assertEqual(os.listdir(self.folder), ['rows.tsv'])

    def test_missing_paths_name_flag_and_path_before_anything_starts(self):
        missing, below = self.path('missing.tsv'), f'{self.data}/x'
        for path in (missing, below, '/dev/null', '', self.path('*.txt'), f'{self.data},{missing}'):
            for words in (('train',), ('evaluate',), ('predict', '--out=p')):
                line = self.refused(2, *words, f'--data={path}')
                self.assertIn('--data', line)
                self.assertIn(path.split(',')[-1], line)
        line = self.refused(2, 'train', f'--data={self.data}', f'--test_data={missing}')
        self.assertIn('--test_data', line)
        self.assertIn(missing, line)
        os.mkdir(self.path('nothing'))
        self.assertIn('nothing', self.refused(2, 'train', f'--data={self.path("nothing")}'))
        self.assertEqual(sorted(os.listdir(self.folder)), ['nothing', 'rows.tsv'])

    def test_places_that_cannot_be_written_are_refused_before_training(self):
        os.mkdir(self.path('folder'))
        for path in (self.path('no/such'), f'{self.data}/x', self.path('folder')):
            self.assertIn(f'--summary_json={path}: ',
                          self.refused(2, 'train', f'--data={self.data}', f'--summary_json={path}'))
            self.assertIn(f'--out={path}: ', self.refused(2, 'predict', f'--data={self.data}', f'--out={path}'))
            self.assertIn(f'--out={path}: ', self.refused(2, 'generate', '--rows=5', f'--out={path}'))
        for path in (self.path('no/such'), f'{self.data}/x', self.data):
            self.assertIn(f'--model_dir={path}: ',
                          self.refused(2, 'train', f'--data={self.data}', f'--model_dir={path}'))
        if os.geteuid() != 0:
            os.chmod(self.path('folder'), 0o500)
            for flag in ('summary_json', 'model_dir'):
                self.assertIn(f'--{flag}={self.path("folder")}/x: ',
                              self.refused(2, 'train', f'--data={self.data}', f'--{flag}={self.path("folder")}/x'))
        self.assertEqual(sorted(os.listdir(self.folder)), ['folder', 'rows.tsv'])

    def test_special_files_are_written_to_and_stay(self):
        os.mkfifo(self.path('pipe'))
        reader = os.open(self.path('pipe'), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.ok('train', f'--data={self.data}', f'--model_dir={self.path("model")}', '--summary_json=pipe')
        self.assertIn(b'"samples": 80', os.read(reader, 10000))
        self.ok('predict', f'--data={self.data}', f'--model_dir={self.path("model")}', '--out=pipe')
        self.assertEqual(os.read(reader, 10000).count(b'\n'), 100)
        self.ok('predict', f'--data={self.data}', f'--model_dir={self.path("model")}', '--out=/dev/null')
        full = self.run_program('predict', f'--data={self.data}', f'--model_dir={self.path("model")}',
                                '--out=/dev/full')
        self.assertEqual(full.code, 1)
        self.assertIn('/dev/full: cannot write at byte 0: No space left', full.err)


class RowsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.rows = make_rows(300)
        self.base = self.digest('base.tsv', text(self.rows))

    def digest(self, name, content):
        return self.train(self.write(name, content), '--batch_size=64', '--threads=1')['digest']

    def test_line_endings_and_what_stands_around_rows_do_not_matter(self):
        plain = text(self.rows)
        header = b'\t'.join(b'%c%d' % (kind, i) for kind, n in ((b'I', 13), (b'C', 26)) for i in range(1, n + 1))
        header = b'label\t' + header + b'\n'
        blank = plain.replace(b'\n', b'\n\n\r\n', 20)
        for name, content in (
                ('crlf', plain.replace(b'\n', b'\r\n')), ('bom', b'\xef\xbb\xbf' + plain), ('header', header + plain),
                ('bom_header', b'\xef\xbb\xbf' + header.replace(b'\n', b'\r\n') + plain), ('blank', b'\n\n' + blank),
                ('no_end', plain[:-1]), ('cr_end', plain[:-1] + b'\r'), ('gz', gzip.compress(plain))):
            self.assertEqual(self.digest(name, content), self.base, name)

    def test_trimmed_trailing_tabs_are_empty_fields(self):
        full = [row[:30] + [''] * 10 for row in self.rows]
        trimmed = b''.join(line.rstrip(b'\t') + b'\n' for line in text(full).splitlines())
        self.assertLess(len(trimmed), len(text(full)))
        self.assertEqual(self.digest('trimmed', trimmed), self.digest('full', text(full)))

    def bad_row(self, line, seen):
        """One bad row among 300: named by file and line, left out, everything else trained."""
        lines = text(self.rows).splitlines(keepends=True)
        lines[100] = line + b'\n'
        path = self.write('bad.tsv', b''.join(lines))
        result = self.ok('train', f'--data={path}', '--model_dir=', '--batch_size=64', '--max_bad_share=0.01')
        self.assertIn('trained: 239 samples', result.out)
        self.assertIn('bad rows left out: 1', result.out)
        named = [line for line in result.err.splitlines() if f'{path}:101: ' in line]
        self.assertEqual(len(named), 1, result)
        self.assertIn(seen, named[0])
        self.assertLess(len(named[0]), 400)

    def test_one_bad_row_is_named_and_left_out(self):
        good = text(self.rows[100:101])[:-1].split(b'\t')

        def changed(field, value):
            return b'\t'.join(good[:field] + [value] + good[field + 1:])
        for line, seen in (
                (b'x' * 5_000_000, 'label: "xxx'), (changed(5, b'7' * 5_000_000), 'I5: '),
                (changed(3, b'1.5'), 'I3: bad integer "1.5"'), (changed(3, b'9' * 19), 'I3: integer of more than 64 bits'),
                (changed(3, b'-9223372036854775809'), 'I3: '), (changed(14, b'4z'), 'C1: bad hex "4z"'),
                (changed(39, b'0123456789abcdef0'), 'C26: bad hex'), (changed(0, b'2'), 'label: "2"'),
                (changed(0, b''), 'label: ""'), (changed(20, b'a\0b'), 'C7: bad hex "a\\000b"'),
                (b'\0', 'label: "\\000"'), (b'\t'.join(good + [b'1']), 'more than 40 fields'), (b' ', 'label: " "')):
            self.bad_row(line, seen)

    def test_extreme_integers_are_good(self):
        rows = [list(row) for row in self.rows]
        for i, value in enumerate(('-1', '-9223372036854775808', '9223372036854775807', '+5', '000')):
            rows[i][4] = value
        path = self.write('extreme.tsv', text(rows))
        summary = self.train(path)
        self.assertEqual(summary['samples'], 240)
        self.assertLess(summary['logloss'], 5)

    def test_too_many_bad_rows_end_the_run(self):
        rows = [list(row) for row in self.rows]
        for i in range(0, 300, 10):
            rows[i][15] = 'g'
        path = self.write('many.tsv', text(rows))
        words = ('train', f'--data={path}', '--model_dir=model', '--shuffle=none', '--batch_size=64')
        result = self.run_program(*words)
        self.assertEqual(result.code, 1)  # Found while it trains.
        self.assertIn(f'at most 1 % may be; first: {path}:1: C2: bad hex "g"', result.err.splitlines()[-1])
        self.assertNotIn('test:', result.out)
        self.assertIn('trained: 216 samples', self.ok(*words, '--max_bad_share=0.1').out)
        none = self.write('none.tsv', text([row[:15] + ['g'] + row[16:] for row in self.rows]))
        allowed = self.train(none, '--max_bad_share=1')
        self.assertEqual((allowed['samples'], allowed['auc'], allowed['rows']), (0, None, 0))

    def test_bad_rows_of_the_test_are_measured_by_its_own_rows(self):
        rows = [list(row) for row in self.rows]
        for i in (250, 270):  # 2 of 300 rows, and of 60 test rows
            rows[i][15] = 'g'
        path = self.write('bad_end.tsv', text(rows))
        result = self.run_program('train', f'--data={path}', '--model_dir=')
        self.assertEqual(result.code, 1)
        self.assertIn('1 of 60 rows are bad (1.667 %), at most 1 % may be', result.err)
        self.assertIn('test: 58 samples', self.ok('train', f'--data={path}', '--model_dir=', '--max_bad_share=0.04').out)

    def test_bad_test_rows_do_not_lose_the_trained_model(self):
        bad = self.write('bad_test.tsv', text(self.rows[:3] + [['3'] * 40] * 2))
        result = self.run_program('train', f'--data={self.path("base.tsv")}', f'--test_data={bad}',
                                  '--model_dir=model', '--batch_size=64')
        self.assertEqual(result.code, 1)
        self.assertIn(f'{bad}:4: label: "3"', result.err.splitlines()[-1])
        self.ok('evaluate', f'--data={self.path("base.tsv")}', '--model_dir=model')

    def test_rows_without_labels_or_no_rows_at_all_are_refused(self):
        plain = self.path('base.tsv')
        self.ok('train', f'--data={plain}', '--model_dir=model')
        unlabelled = self.write('unlabelled.tsv', text([row[1:] for row in self.rows]))
        for content in (b'', b'\n\r\n\n', b'\xef\xbb\xbf', gzip.compress(b'')):
            empty = self.write('empty.tsv', content)
            for command in ('train', 'evaluate'):
                self.assertIn(f'{empty}: no rows', self.refused(2, command, f'--data={empty}', '--model_dir=model'))
        for words in (('train', f'--data={unlabelled}'), ('evaluate', f'--data={unlabelled}'),
                      ('train', f'--data={plain}', f'--test_data={unlabelled}')):
            line = self.refused(2, *words, '--model_dir=model')
            self.assertIn(f'{unlabelled}: rows of 39 fields without labels', line)
        self.ok('predict', f'--data={empty}', '--model_dir=model', '--out=none')
        self.assertEqual(os.path.getsize(self.path('none')), 0)

    def test_damaged_gzip_is_refused_by_name(self):
        damaged = self.write('cut.gz', gzip.compress(text(self.rows))[:-9])
        line = self.refused(2, 'train', f'--data={damaged}')
        self.assertIn(f'{damaged}: gzip data ends early', line)


if __name__ == '__main__':
    unittest.main()
