#!/usr/bin/env -S python3 -B
"""rowan-ctr train: what the final model depends on, and what it does not, told by its digest."""
import gzip
import unittest

from ctr_program import ProgramTest, make_rows, text


class DigestTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.rows = make_rows(1500)
        self.data = self.write('rows.tsv', text(self.rows))

    def digest(self, *words, data=None):
        return self.train(data or self.data, *words)['digest']

    def test_same_run_same_digest_however_it_is_computed(self):
        base = self.train(self.data, '--epochs=2')
        again = self.train(self.data, '--epochs=2')
        for name in ('auc', 'logloss', 'samples', 'digest', 'rows'):
            self.assertEqual(base[name], again[name], name)
        for word in ('--threads=1', '--threads=2', '--threads=3', '--shards=1', '--shards=16', '--shards=256',
                     '--pipeline', '--nopipeline'):
            other = self.train(self.data, '--epochs=2', word)
            for name in ('auc', 'logloss', 'samples', 'digest', 'rows'):
                self.assertEqual(base[name], other[name], f'{word}: {name}')

    def test_what_should_matter_does(self):
        digests = [self.digest(), self.digest('--seed=2'), self.digest('--epochs=2'), self.digest('--batch_size=255'),
                   self.digest('--row_learning_rate=0.049'), self.digest('--dense_learning_rate=0.0011'),
                   self.digest('--workers=2'),
                   self.digest(data=self.write('other.tsv', text(make_rows(1500, seed=2))))]
        self.assertEqual(len(set(digests)), len(digests), digests)

    def test_files_and_compression_do_not_matter(self):
        base = self.digest()
        for i in range(4):
            self.write(f'parts/part-{i}.tsv', text(self.rows[375 * i:375 * (i + 1)])[:-1])  # no final newline
        self.assertEqual(self.digest(data=self.path('parts')), base)
        self.assertEqual(self.digest(data=self.path('parts/part-*.tsv')), base)
        names = [self.path(f'parts/part-{i}.tsv') for i in (2, 0, 3, 1)]
        self.assertEqual(self.digest(data=','.join(names)), base)
        zipped = self.write('rows.tsv.gz', gzip.compress(text(self.rows)))
        self.assertEqual(self.digest(data=zipped), base)
        members = b''.join(gzip.compress(text(self.rows[750 * i:750 * (i + 1)])) for i in range(2))
        self.assertEqual(self.digest(data=self.write('noname', members)), base)

    def test_shuffle(self):
        none, window, epoch = (self.digest(f'--shuffle={how}') for how in ('none', 'window:100', 'epoch'))
        self.assertEqual(len({none, window, epoch}), 3)
        self.assertEqual(self.digest('--shuffle=window:1'), none)
        self.assertEqual(self.digest('--shuffle=window:1200'), epoch)  # 1,500 rows, a fifth of them the test
        self.assertEqual(self.digest('--shuffle=window:100', '--threads=2', '--nopipeline'), window)
        self.assertEqual(self.digest(), epoch)

    def test_without_waiting_one_worker_equals_sync(self):
        base = self.digest()
        for mode in ('bounded:0', 'async'):
            self.assertEqual(self.digest(f'--mode={mode}', '--nopipeline'), base, mode)


class WorkersTest(ProgramTest):
    def unique_rows(self, count):
        """Rows whose C1 is theirs alone and whose other ids are missing: count + 25 keys if each row was read."""
        rows = [row[:14] + ['%x' % (i + 1)] + [''] * 25 for i, row in enumerate(make_rows(count))]
        return self.write(f'unique-{count}.tsv', text(rows))

    def test_each_row_once_for_any_number_of_workers(self):
        test = self.write('test.tsv', text(make_rows(50, seed=3)))
        for count, batch in ((1000, 300), (7, 3), (2, 2048)):
            data = self.unique_rows(count)
            for workers in (1, 2, 3):
                words = [f'--workers={workers}', f'--batch_size={batch}', f'--test_data={test}']
                first, second = (self.train(data, *words) for _ in range(2))
                self.assertEqual(first['samples'], count, words)
                self.assertEqual(first['rows'], count + 25, words)
                self.assertEqual(first['digest'], second['digest'], words)

    def test_last_smaller_batch_is_trained(self):
        rows = make_rows(700)
        test = self.write('test.tsv', text(make_rows(50, seed=3)))
        whole = self.write('whole.tsv', text(rows))
        cut = self.write('cut.tsv', text(rows[:600]))
        words = ['--batch_size=300', '--shuffle=none', f'--test_data={test}']
        trained = self.train(whole, *words)
        self.assertEqual(trained['samples'], 700)
        self.assertNotEqual(trained['digest'], self.train(cut, *words)['digest'])

    def test_other_modes_read_each_row_once_too(self):
        data = self.unique_rows(1000)
        test = self.write('test.tsv', text(make_rows(50, seed=3)))
        for mode in ('async', 'bounded:2', 'bounded:0'):
            for workers in (1, 3):
                trained = self.train(data, f'--mode={mode}', f'--workers={workers}', '--batch_size=90', '--epochs=2',
                                     f'--test_data={test}')
                self.assertEqual(trained['samples'], 2000, (mode, workers))
                self.assertEqual(trained['rows'], 1025, (mode, workers))


if __name__ == '__main__':
    unittest.main()
