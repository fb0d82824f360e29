"""Runs the checks of the modules that are named against the addresses of the environment. One line of JSON for each:

    {"checks": 30}                                    before the first
    {"name": "...", "seconds": 0.2, "failure": null}  after each; the failure is a traceback
"""

import importlib
import json
import sys
import time
import unittest


class Lines(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.failure = None

    def addFailure(self, test, error):
        self.failure = self._exc_info_to_string(error, test)
        # What a class makes beforehand can fail too, and then none of its checks begins.
        if not isinstance(test, unittest.TestCase):
            say(name=str(test), seconds=0, failure=self.failure)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.failure = f"{subtest}\n{self._exc_info_to_string(error, test)}"

    def stopTest(self, test):
        super().stopTest(test)
        say(name=test.shortDescription(), seconds=time.monotonic() - self.began, failure=self.failure)


def say(**line):
    print(json.dumps(line), flush=True)


modules = [importlib.import_module(name) for name in sys.argv[1:]]
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(module) for module in modules)
say(checks=suite.countTestCases())
suite.run(Lines())
sys.exit(0)
