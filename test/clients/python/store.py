"""The client of the checks, as anyone would make it: nothing is set but the address. Credentials come from the environment."""

import os
import unittest
import urllib.error
import urllib.request
import uuid

import boto3
from botocore.exceptions import ClientError

ENDPOINT = os.environ["ENDPOINT"]
ENDPOINT_TLS = os.environ["ENDPOINT_TLS"]
MIB = 2**20


def client(**more):
    return boto3.client("s3", endpoint_url=ENDPOINT, **more)


class Checks(unittest.TestCase):
    """A bucket for each class. The docstring of each method is its name."""

    @classmethod
    def setUpClass(cls):
        cls.s3 = client()
        cls.bucket = cls.new_bucket()

    @classmethod
    def new_bucket(cls, **more):
        name = f"boto3-{uuid.uuid4().hex[:12]}"
        cls.s3.create_bucket(Bucket=name, **more)
        return name

    def put(self, key, body=b"text", **more):
        return self.s3.put_object(Bucket=self.bucket, Key=key, Body=body, **more)

    def read(self, key, **more):
        return self.s3.get_object(Bucket=self.bucket, Key=key, **more)["Body"].read()

    def assertRefused(self, code, call, *args, **named):
        with self.assertRaises(ClientError) as caught:
            call(*args, **named)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)


def fetch(address, method="GET", body=None, headers=None):
    """Status, headers and body, as a stranger without credentials gets them."""
    request = urllib.request.Request(address, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read()
