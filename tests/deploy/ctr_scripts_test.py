#!/usr/bin/env -S python3 -B
"""deploy/quickstart.sh and deploy/check_quality.sh, on few rows and without building."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

ROOT = os.path.join(os.environ['TEST_SRCDIR'], os.environ['TEST_WORKSPACE'])
PROGRAM = os.path.join(ROOT, 'worker/examples/ctr/rowan-ctr')
PATIENCE = 60  # seconds: far beyond what anything here takes


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
        self.addCleanup(folder.cleanup)
        self.tree = os.path.join(folder.name, 'tree')
        self.here = os.path.join(folder.name, 'here')  # where the user stands
        os.makedirs(os.path.join(self.tree, 'deploy'))
        os.mkdir(self.here)
        for name in ('check_quality.sh', 'lib.sh', 'quickstart.sh'):
            shutil.copy(os.path.join(ROOT, 'deploy', name), os.path.join(self.tree, 'deploy'))

    def start(self, script, *words, rows=3000, least_auc='0.5'):
        env = dict(os.environ, ROWAN_CTR=PROGRAM, QUICKSTART_ROWS=str(rows), QUICKSTART_LEAST_AUC=least_auc)
        process = subprocess.Popen([os.path.join(self.tree, 'deploy', script), *words], cwd=self.here, env=env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        timer = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))  # its own group
        timer.start()
        self.addCleanup(timer.cancel)
        return process

    def run_script(self, code, script, *words, **options):
        process = self.start(script, *words, **options)
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, (words, out, err))
        return out.decode(), err.decode()

    def clicks(self, name, rows, seed):
        subprocess.run([PROGRAM, 'generate', f'--rows={rows}', f'--seed={seed}', f'--out={self.here}/{name}'],
                       check=True, stdout=subprocess.DEVNULL)

    def models(self):
        return sorted(os.listdir(os.path.join(self.tree, 'build/quickstart/model')))


class QuickstartTest(ScriptTest):
    def test_generated_clicks_are_trained_on_and_judged(self):
        out, _ = self.run_script(0, 'quickstart.sh', '--summary_json=result.json', '--', '--batch_size=64')
        self.assertRegex(out, r'AUC reached: 0\.\d{4}; best that any model could reach on these clicks: 0\.\d{4}; ')
        with open(f'{self.here}/result.json', encoding='ascii') as file:
            self.assertEqual(json.load(file)['samples'], 2400)
        self.assertEqual(os.listdir(f'{self.tree}/build/quickstart'), ['model'])  # no clicks left
        self.run_script(1, 'quickstart.sh', least_auc='0.99')

    def test_own_data_by_list_and_glob(self):
        for i in range(3):
            self.clicks(f'part-{i}.tsv', 200, i)
        self.clicks('test.tsv.gz', 100, 9)
        for data in ('part-0.tsv,part-1.tsv,part-2.tsv', 'part-?.tsv'):
            out, _ = self.run_script(0, 'quickstart.sh', f'--data={data}', '--test_data=test.tsv.gz',
                                     '--summary_json=own.json', '--', '--batch_size=100')
            self.assertIn('trained: 600 samples', out)
            self.assertIn('test: 100 samples', out)
            with open(f'{self.here}/own.json', encoding='ascii') as file:
                self.assertEqual(json.load(file)['samples'], 600)

    def test_the_last_three_models_are_kept(self):
        self.clicks('few.tsv', 100, 1)
        for _ in range(5):
            self.run_script(0, 'quickstart.sh', '--data=few.tsv')
        self.assertEqual([int(name[-3:]) for name in self.models() if name.startswith('snapshot')], [3, 4, 5])
        for _ in range(4):
            self.run_script(0, 'quickstart.sh', '--data=few.tsv', '--', '--model_dir=mine')
        self.assertEqual(len([name for name in os.listdir(f'{self.here}/mine') if name.startswith('snapshot')]), 4)

    def test_wrong_words_and_files(self):
        for words, said in ((('--dat=x',), '--dat=x: must be'), (('--test_data=x',), 'needs --data'),
                            (('--data=none',), 'none'), (('--', '--batch_size=0'), '--batch_size=0')):
            _, err = self.run_script(2, 'quickstart.sh', *words)
            self.assertIn(said, err)

    def test_an_interrupt_leaves_the_model_and_no_clicks(self):
        process = self.start('quickstart.sh', '--', '--epochs=1000000', '--batch_size=64')
        while b'step ' not in (line := process.stderr.readline()):
            self.assertNotEqual(line, b'')
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 130, (out, err))
        self.assertEqual(os.listdir(f'{self.tree}/build/quickstart'), ['model'])
        self.assertIn('snapshot-00000000000000000001', self.models())


class CheckQualityTest(ScriptTest):
    def test_each_figure_stands_beside_its_bound_and_a_missed_one_fails(self):
        for i, name in enumerate(('ids.train', 'ids.test', 'time')):
            self.clicks(f'{name}.criteo.tsv.gz', 500, i)
        out, _ = self.run_script(1, 'check_quality.sh', '.')
        figures = dict(line.split(' ', 1) for line in out.splitlines())
        self.assertEqual(list(figures), ['ids_auc', 'ids_logloss', 'ids_auc_frozen_rows', 'time_auc'])
        self.assertRegex(figures['ids_auc'], r'^0\.\d{4} >=0\.780  MISSED$')

    def test_missing_files_are_named(self):
        self.assertIn('usage', self.run_script(2, 'check_quality.sh')[1])
        self.assertIn('ids.train.criteo.tsv.gz', self.run_script(2, 'check_quality.sh', 'none')[1])


if __name__ == '__main__':
    unittest.main()
