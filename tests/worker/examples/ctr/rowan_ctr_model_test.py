#!/usr/bin/env -S python3 -B
"""rowan-ctr: the model that train stores is the one that evaluate and predict read, and it has learned."""
import fcntl
import hashlib
import json
import math
import os
import random
import re
import unittest

from ctr_program import CATEGORICALS, INTEGERS, ProgramTest, make_rows, text


def scores(path):
    with open(path, encoding='ascii') as file:
        return file.read().splitlines()


def rescored(predictions, labels):
    """AUC by counting pairs, and log loss, of probabilities as predict wrote them."""
    clicks = sorted(p for p, y in zip(predictions, labels) if y)
    others = sorted(p for p, y in zip(predictions, labels) if not y)
    half_wins = sum(2 * (o < c) + (o == c) for c in clicks for o in others)
    loss = 0
    for p, y in zip(predictions, labels):
        p = min(max(p, 1e-7), 1 - 1e-7)
        loss -= math.log(p if y else 1 - p)
    return half_wins / 2 / (len(clicks) * len(others)), loss / len(labels)


def hashes(folder):
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, 'rb') as file:
                found[path] = (hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns)
    return found


class ModelTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.test_rows = make_rows(500, seed=9)
        self.data = self.write('train.tsv', text(make_rows(2000)))
        self.test = self.write('test.tsv', text(self.test_rows))
        self.model = self.path('model')
        self.summary_path = self.path('trained.json')
        self.trained = self.ok('train', f'--data={self.data}', f'--test_data={self.test}', f'--model_dir={self.model}',
                               '--batch_size=100', '--epochs=2', '--shards=16',
                               f'--summary_json={self.summary_path}')
        self.result_line = next(line for line in self.trained.out.splitlines() if line.startswith('test: '))

    def predict(self, data, *words):
        out = self.path('predictions')
        result = self.ok('predict', f'--data={data}', f'--model_dir={self.model}', f'--out={out}', *words)
        return scores(out), result

    def test_evaluate_repeats_trains_figures_and_touches_nothing(self):
        with open(self.summary_path, encoding='utf-8') as file:
            trained = json.load(file)
        self.assertEqual(list(trained),
                         ['auc', 'logloss', 'samples', 'seconds', 'samples_per_second', 'digest', 'rows'])
        before = hashes(self.model)
        printed = re.match(r'test: 500 samples, AUC (\S+), log loss (\S+)$', self.result_line)
        self.assertEqual((float(printed[1]), float(printed[2])), (trained['auc'], trained['logloss']))
        for words in ((), ('--threads=1',), ('--threads=3',)):
            evaluated = self.summary('evaluate', f'--data={self.test}', f'--model_dir={self.model}', *words)
            for name in ('auc', 'logloss', 'digest', 'rows'):
                self.assertEqual(evaluated[name], trained[name], name)
            self.assertEqual(evaluated['samples'], 500)
        again = self.ok('evaluate', f'--data={self.test}', f'--model_dir={self.model}')
        self.assertIn(self.result_line + '\n', again.out)
        self.predict(self.test)
        self.assertEqual(hashes(self.model), before)

    def test_predictions_rescore_to_the_printed_figures(self):
        lines, _ = self.predict(self.test)
        self.assertEqual(len(lines), 500)
        labels = [row[0] == '1' for row in self.test_rows]
        auc, loss = rescored([float(line) for line in lines], labels)
        printed = re.match(r'test: 500 samples, AUC (\S+), log loss (\S+)$', self.result_line)
        self.assertAlmostEqual(auc, float(printed[1]), delta=1e-12)
        self.assertAlmostEqual(loss, float(printed[2]), delta=1e-6)
        self.assertGreater(auc, 0.7)
        self.assertLess(loss, 0.69)

    def test_predict_answers_each_row_in_order_whatever_stands_around_it(self):
        whole, _ = self.predict(self.test)
        picked = [17, 3, 3, 499, 0, 250]
        lines, _ = self.predict(self.write('picked.tsv', text([self.test_rows[i] for i in picked])))
        self.assertEqual(lines, [whole[i] for i in picked])
        unlabelled = self.write('unlabelled.tsv', text([row[1:] for row in self.test_rows]))
        self.assertEqual(self.predict(unlabelled)[0], whole)

    def test_predict_marks_bad_rows_and_goes_on(self):
        whole, _ = self.predict(self.test)
        rows = [list(row) for row in self.test_rows]
        rows[0][20] = 'xyz'
        rows[7] = ['1'] * 60
        rows[499][3] = '1.5'
        lines, result = self.predict(self.write('bad.tsv', text(rows)))
        self.assertEqual([i for i, line in enumerate(lines) if line == 'nan'], [0, 7, 499])
        self.assertEqual([a for i, a in enumerate(lines) if i not in (0, 7, 499)],
                         [a for i, a in enumerate(whole) if i not in (0, 7, 499)])
        self.assertIn('500 rows, 3 of them malformed', result.out)
        self.assertIn(f'{self.path("bad.tsv")}:1: C7: bad hex "xyz"', result.err)

    def test_unseen_keys_never_fail(self):
        rows = [['0'] + ['5'] * INTEGERS + ['%x' % (2 ** 60 + 1000 * i + c) for c in range(CATEGORICALS)]
                for i in range(200)] + make_rows(1)
        lines, _ = self.predict(self.write('unseen.tsv', text(rows)))
        self.assertEqual(len(lines), 201)
        self.assertTrue(all(0 < float(line) < 1 for line in lines))
        evaluated = self.summary('evaluate', f'--data={self.path("unseen.tsv")}', f'--model_dir={self.model}')
        self.assertEqual(evaluated['samples'], 201)

    def test_one_class_has_no_auc(self):
        ones = self.write('ones.tsv', text([['1'] + row[1:] for row in self.test_rows]))
        path = self.path('ones.json')
        result = self.ok('evaluate', f'--data={ones}', f'--model_dir={self.model}', f'--summary_json={path}')
        self.assertRegex(result.out, r'test: 500 samples, AUC undefined, log loss \d')
        with open(path, encoding='utf-8') as file:
            self.assertIn('"auc": null, "logloss": ', file.read())
        self.assertIsNone(self.train(ones)['auc'])

    def test_too_few_rows_for_a_test_have_no_figures(self):
        summary = self.train(self.write('four.tsv', text(make_rows(4))))
        self.assertEqual(summary['samples'], 4)
        self.assertIsNone(summary['auc'])
        self.assertIsNone(summary['logloss'])
        self.assertEqual(self.train(self.write('five.tsv', text(make_rows(5))))['samples'], 4)

    def test_a_second_run_adds_a_snapshot_and_the_newest_is_read(self):
        before = hashes(self.model)
        self.assertEqual(os.listdir(self.model).count('snapshot-00000000000000000001'), 1)
        second = self.train(self.data, f'--model_dir={self.model}', '--seed=5', f'--test_data={self.test}')
        self.assertIn('snapshot-00000000000000000002', os.listdir(self.model))
        self.assertEqual({path: was for path, was in hashes(self.model).items() if path in before}, before)
        newest = self.summary('evaluate', f'--data={self.test}', f'--model_dir={self.model}')
        self.assertEqual(newest['digest'], second['digest'])
        first = self.ok('evaluate', f'--data={self.test}',
                        f'--model_dir={self.model}/snapshot-00000000000000000001')
        self.assertIn(self.result_line + '\n', first.out)

    def test_a_newer_snapshot_without_manifest_is_passed_over_aloud(self):
        newer = os.path.join(self.model, 'snapshot-00000000000000000007')
        os.mkdir(newer)
        result = self.ok('evaluate', f'--data={self.test}', f'--model_dir={self.model}')
        self.assertIn(self.result_line + '\n', result.out)
        self.assertEqual([newer in line and 'manifest' in line for line in result.err.splitlines()], [True], result)

    def test_runs_that_end_together_all_keep_their_models(self):
        with open(os.path.join(self.model, '.snapshot-lock'), 'w', encoding='ascii') as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            runs = [self.start('train', f'--data={self.test}', f'--model_dir={self.model}', f'--seed={seed}')
                    for seed in (3, 4, 5)]
            for run in runs:
                self.addCleanup(run.kill)
                while b'waiting for another run' not in (line := run.stderr.readline()):
                    self.assertNotEqual(line, b'')
            os.mkdir(os.path.join(self.model, 'snapshot-00000000000000000002'))  # what the lock's holder wrote
        for run in runs:
            out, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, err)
            self.assertIn(b'model: ', out)
        names = sorted(name for name in os.listdir(self.model) if name.startswith('snapshot'))
        self.assertEqual([int(name[-3:]) for name in names], [1, 2, 3, 4, 5])

    def test_a_damaged_model_is_refused_by_file(self):
        snapshot = os.path.join(self.model, 'snapshot-00000000000000000001')
        for name in ('shard-00003.sst', 'MANIFEST'):
            path = os.path.join(snapshot, name)
            with open(path, 'rb') as file:
                good = file.read()
            for bad in (good[:100] + bytes([good[100] ^ 1]) + good[101:], good[:-20], b'', None):
                if bad is None:
                    os.remove(path)
                else:
                    self.write(path, bad)
                for command, words in (('evaluate', ()), ('predict', (f'--out={self.path("none")}',))):
                    line = self.refused(2, command, f'--data={self.test}', f'--model_dir={self.model}', *words)
                    self.assertIn(self.model if bad is None and name == 'MANIFEST' else path, line)
                self.assertFalse(os.path.exists(self.path('none')))
            self.write(path, good)
        self.ok('evaluate', f'--data={self.test}', f'--model_dir={self.model}')

    def test_a_directory_without_a_model_is_refused(self):
        os.mkdir(self.path('empty'))
        for folder in (self.path('empty'), self.path('missing'), self.test):
            line = self.refused(2, 'evaluate', f'--data={self.test}', f'--model_dir={folder}')
            self.assertIn(folder, line)
            self.assertIn('model_dir', line)


class LearningTest(ProgramTest):
    def test_only_embeddings_can_know(self):
        rng = random.Random(4)
        effect = [[rng.gauss(0, 1.5) for _ in range(300)] for _ in range(2)]
        rows = []
        for _ in range(6000):
            a, b = rng.randrange(300), rng.randrange(300)
            label = '1' if rng.random() < 1 / (1 + math.exp(-effect[0][a] - effect[1][b])) else '0'
            rows.append([label] + [''] * INTEGERS + ['%x' % a, '%x' % b] + [''] * 24)
        data = self.write('ids.tsv', text(rows))
        learned = self.train(data, '--batch_size=64', '--threads=1')
        frozen = self.train(data, '--batch_size=64', '--threads=1', '--row_learning_rate=0')
        self.assertGreater(learned['auc'], 0.75)
        self.assertLess(abs(frozen['auc'] - 0.5), 0.1)


if __name__ == '__main__':
    unittest.main()
