#!/usr/bin/env -S python3 -B
"""rowan-ctr: what a run says while it works, and how it ends when it is told to."""
import os
import re
import signal
import threading
import time
import unittest

from ctr_program import ProgramTest, make_rows, text

PATIENCE = 60  # seconds: far beyond what anything here takes


class RunningTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.write('rows.tsv', text(make_rows(1000)))

    def begin(self, *words):
        process = self.start(*words)
        # A run that never ends ends the test.
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def read_until(self, process, pattern):
        while True:
            line = process.stderr.readline().decode()
            self.assertNotEqual(line, '', f'ended without {pattern}')
            if re.search(pattern, line):
                return line

    def end(self, process, code):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, (out, err))
        return out.decode(), err.decode()

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_progress_lines_say_how_far_and_how_well(self):
        line = r'^step (\d+)/80  \d+ samples/s  loss \d\.\d{4}  AUC so far (0\.\d{4}|undefined)  \d+ s left$'
        result = self.ok('train', f'--data={self.data}', '--model_dir=', '--batch_size=20', '--epochs=2', '--profile')
        steps = [int(found[1]) for found in (re.match(line, text) for text in result.err.splitlines()) if found]
        self.assertEqual(steps[-1], 80, result)
        self.assertEqual(steps[0], 1, result)
        self.assertRegex(result.out, r'\ntest: 200 samples, AUC 0\.\d+, log loss \d')
        for phase in ('read', 'deduplicate', 'pull', 'forward', 'backward', 'push'):
            self.assertRegex(result.out, rf'\n{phase} +\d')

    def interrupted_training(self, *words, signal_number=signal.SIGINT):
        process = self.begin('train', f'--data={self.data}', '--model_dir=model', '--epochs=1000000', '--batch_size=64',
                             *words)
        self.read_until(process, r'^step ')
        process.send_signal(signal_number)
        sent = time.monotonic()
        out, err = self.end(process, 128 + signal_number)
        self.assertLess(time.monotonic() - sent, 20)
        self.assertIn('rowan-ctr train: interrupted', err)
        self.assertNotIn('test:', out)
        self.assertRegex(out, r'model: model/snapshot-\d{20}')
        result = self.ok('evaluate', f'--data={self.data}', '--model_dir=model')
        self.assertRegex(result.out, r'AUC 0\.')
        snapshot = re.search(r'model: (\S+)', out)[1]
        with open(os.path.join(self.folder, snapshot, 'MANIFEST'), encoding='utf-8') as file:
            position = re.search(r'position \{(.*?)\}', file.read(), re.DOTALL)[1]
        return {name: int(value) for name, value in re.findall(r'(\w+): (\d+)', position)}

    def test_an_interrupt_keeps_the_model_at_its_position(self):
        position = self.interrupted_training()
        self.assertGreater(position['step'], 0)
        steps = position['step']  # 13 of an epoch: 12 of 64 samples and one of 32
        self.assertEqual(position.get('epoch', 0), steps // 13)
        self.assertEqual(position['samples'], steps // 13 * 800 + steps % 13 * 64)

    def test_an_interrupt_ends_several_workers_in_any_mode(self):
        self.interrupted_training('--workers=3')
        self.assertGreater(self.interrupted_training('--workers=2', '--mode=bounded:1')['step'], 0)
        self.assertGreater(self.interrupted_training('--mode=async', signal_number=signal.SIGTERM)['step'], 0)

    def test_what_goes_missing_while_it_runs_is_a_failure_not_wrong_input(self):
        process = self.begin('train', f'--data={self.data}', '--model_dir=model', '--epochs=1000000', '--batch_size=64')
        self.read_until(process, r'^step ')
        os.rmdir(self.path('model'))
        process.send_signal(signal.SIGINT)
        _, err = self.end(process, 1)
        self.assertIn('model', err.splitlines()[-1])

    def test_an_interrupted_generation_leaves_no_file(self):
        process = self.begin('generate', '--rows=1000000000', '--out=clicks.tsv')
        self.until(lambda: any('clicks' in name for name in os.listdir(self.folder)))
        process.send_signal(signal.SIGINT)
        _, err = self.end(process, 130)
        self.assertIn('rowan-ctr generate: interrupted', err)
        self.assertEqual(os.listdir(self.folder), ['rows.tsv'])

    def test_a_second_interrupt_ends_at_once(self):
        os.mkfifo(self.path('pipe'))
        process = self.begin('generate', '--rows=1000000', '--out=pipe')
        reader = os.open(self.path('pipe'), os.O_RDONLY)  # nobody reads on: the program is stuck in its write
        self.addCleanup(os.close, reader)
        os.read(reader, 1)
        process.send_signal(signal.SIGINT)
        self.read_until(process, 'once more ends it at once')
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.end(process, 130)


if __name__ == '__main__':
    unittest.main()
