"""What a bucket and its objects are told: forms, tags, locks, policies, origins, lifecycles."""

import datetime
import json
import uuid

from botocore.config import Config
from botocore.exceptions import ClientError

from store import ENDPOINT, Checks, client, fetch


class Forms(Checks):
    """generate_presigned_post: a form that a browser may send in place of a PUT."""

    def form(self, key="from a form/${filename}", fields=None, conditions=None, **more):
        s3 = client(config=Config(signature_version="s3v4"))
        return s3.generate_presigned_post(self.bucket, key, Fields=fields, Conditions=conditions, **more)

    def send(self, form, body=b"filled in", filename="name ü.txt", **changed):
        boundary = uuid.uuid4().hex
        lines = []
        for name, value in {**form["fields"], **changed}.items():
            lines += [f"--{boundary}", f'Content-Disposition: form-data; name="{name}"', "", value]
        lines += [f"--{boundary}", f'Content-Disposition: form-data; name="file"; filename="{filename}"', "", ""]
        data = "\r\n".join(lines).encode() + body + f"\r\n--{boundary}--\r\n".encode()
        return fetch(form["url"], "POST", data, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def test_form(self):
        """a signed form stores a file under its own name"""
        status, headers, _ = self.send(self.form())
        self.assertEqual(status, 204)
        self.assertIn("ETag", headers)
        self.assertEqual(self.read("from a form/name ü.txt"), b"filled in")

    def test_fields(self):
        """fields of a form become headers and metadata, and success_action_status is heard"""
        fields = {"Content-Type": "text/css", "x-amz-meta-colour": "green", "success_action_status": "201"}
        conditions = [{name: value} for name, value in fields.items()]
        status, _, body = self.send(self.form("fields", fields, conditions))
        self.assertEqual(status, 201)
        self.assertIn(b"<Key>fields</Key>", body)
        head = self.s3.head_object(Bucket=self.bucket, Key="fields")
        self.assertEqual((head["ContentType"], head["Metadata"]), ("text/css", {"colour": "green"}))

    def test_limits(self):
        """a form stores nothing that its policy does not allow"""
        form = self.form("limited", conditions=[["content-length-range", 1, 10]])
        for status, code, answer in (
            (400, b"EntityTooLarge", self.send(form, b"x" * 11)),
            (400, b"EntityTooSmall", self.send(form, b"")),
            (403, b"AccessDenied", self.send(form, key="another")),
            (403, b"AccessDenied", self.send(form, **{"x-amz-meta-more": "not in the policy"})),
            (403, b"SignatureDoesNotMatch", self.send(form, **{"x-amz-signature": "0" * 64})),
        ):
            with self.subTest(code.decode()):
                self.assertEqual(answer[0], status, answer[2])
                self.assertIn(b"<Code>" + code + b"</Code>", answer[2])
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=self.bucket, Prefix="limited"))
        self.assertNotIn("Contents", self.s3.list_objects_v2(Bucket=self.bucket, Prefix="another"))


class Tags(Checks):
    def test_object(self):
        """an object is tagged when it is put, later, and no more"""
        self.put("tagged", Tagging="stage=test&with%20space=a%3Db")
        place = {"Bucket": self.bucket, "Key": "tagged"}
        self.assertEqual(self.s3.get_object(**place)["TagCount"], 2)
        tags = {each["Key"]: each["Value"] for each in self.s3.get_object_tagging(**place)["TagSet"]}
        self.assertEqual(tags, {"stage": "test", "with space": "a=b"})
        self.s3.put_object_tagging(**place, Tagging={"TagSet": [{"Key": "stage", "Value": "ü +-=._:/@"}]})
        self.assertEqual(self.s3.get_object_tagging(**place)["TagSet"], [{"Key": "stage", "Value": "ü +-=._:/@"}])
        self.s3.delete_object_tagging(**place)
        self.assertEqual(self.s3.get_object_tagging(**place)["TagSet"], [])

    def test_copy(self):
        """tags go along with a copy, or are replaced"""
        self.put("source", Tagging="a=1")
        source = {"Bucket": self.bucket, "Key": "source"}
        self.s3.copy_object(Bucket=self.bucket, Key="kept", CopySource=source)
        self.s3.copy_object(Bucket=self.bucket, Key="new", CopySource=source, TaggingDirective="REPLACE", Tagging="b=2")
        for key, tag in (("kept", {"Key": "a", "Value": "1"}), ("new", {"Key": "b", "Value": "2"})):
            with self.subTest(key):
                self.assertEqual(self.s3.get_object_tagging(Bucket=self.bucket, Key=key)["TagSet"], [tag])

    def test_limits(self):
        """eleven tags, or the same twice, are refused"""
        tags = [{"Key": str(at), "Value": ""} for at in range(11)]
        self.put("limits")
        for refused in (tags, [tags[0], tags[0]]):
            with self.assertRaises(ClientError) as caught:
                self.s3.put_object_tagging(Bucket=self.bucket, Key="limits", Tagging={"TagSet": refused})
            self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        self.assertEqual(self.s3.get_object_tagging(Bucket=self.bucket, Key="limits")["TagSet"], [])


class Locks(Checks):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bucket = cls.new_bucket(ObjectLockEnabledForBucket=True)

    def keep(self, key, **more):
        version = {"Bucket": self.bucket, "Key": key, "VersionId": self.put(key, **more)["VersionId"]}
        return version

    def test_default(self):
        """a bucket's default retention holds for what is put without another"""
        bucket = self.new_bucket(ObjectLockEnabledForBucket=True)
        self.assertEqual(self.s3.get_bucket_versioning(Bucket=bucket)["Status"], "Enabled")
        rule = {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}
        configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
        self.s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=configuration)
        got = self.s3.get_object_lock_configuration(Bucket=bucket)
        self.assertEqual(got["ObjectLockConfiguration"], configuration)
        put = self.s3.put_object(Bucket=bucket, Key="key", Body=b"")
        head = self.s3.head_object(Bucket=bucket, Key="key")
        self.assertEqual(head["ObjectLockMode"], "GOVERNANCE")
        left = head["ObjectLockRetainUntilDate"] - datetime.datetime.now(datetime.timezone.utc)
        self.assertLess(abs(left - datetime.timedelta(days=1)), datetime.timedelta(minutes=5))
        version = {"Bucket": bucket, "Key": "key", "VersionId": put["VersionId"]}
        self.assertRefused("AccessDenied", self.s3.delete_object, **version)
        self.s3.delete_object(**version, BypassGovernanceRetention=True)

    def test_compliance(self):
        """what compliance keeps is not deleted by anyone, and kept no shorter"""
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        version = self.keep("compliance", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until)
        self.assertRefused("AccessDenied", self.s3.delete_object, **version, BypassGovernanceRetention=True)
        sooner = {"Mode": "COMPLIANCE", "RetainUntilDate": until - datetime.timedelta(minutes=30)}
        self.assertRefused("AccessDenied", self.s3.put_object_retention, **version, Retention=sooner)
        later = {"Mode": "COMPLIANCE", "RetainUntilDate": until.replace(microsecond=0) + datetime.timedelta(minutes=30)}
        self.s3.put_object_retention(**version, Retention=later)
        self.assertEqual(self.s3.get_object_retention(**version)["Retention"], later)
        self.s3.delete_object(Bucket=self.bucket, Key="compliance")
        self.assertEqual(self.read("compliance", VersionId=version["VersionId"]), b"text")

    def test_hold(self):
        """a legal hold keeps a version as long as it is on"""
        version = self.keep("held", ObjectLockLegalHoldStatus="ON")
        self.assertEqual(self.s3.get_object_legal_hold(**version)["LegalHold"], {"Status": "ON"})
        self.assertRefused("AccessDenied", self.s3.delete_object, **version, BypassGovernanceRetention=True)
        self.s3.put_object_legal_hold(**version, LegalHold={"Status": "OFF"})
        self.s3.delete_object(**version)

    def test_many(self):
        """delete_objects tells which versions it may not delete"""
        version = self.keep("many", ObjectLockLegalHoldStatus="ON")
        free = self.keep("free")
        named = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in (version, free)]
        answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": named})
        self.assertEqual([each["Key"] for each in answer["Deleted"]], ["free"])
        self.assertEqual([(each["Key"], each["Code"]) for each in answer["Errors"]], [("many", "AccessDenied")])


class Policies(Checks):
    def test_policy(self):
        """a policy opens a prefix to strangers, and is read back and deleted"""
        self.put("open/page", b"for all")
        self.put("closed/page", b"for few")
        page = f"{ENDPOINT}/{self.bucket}/"
        self.assertEqual(fetch(page + "open/page")[0], 403)
        policy = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "open",
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": ["s3:GetObject"],
                    "Resource": [f"arn:aws:s3:::{self.bucket}/open/*"],
                }
            ],
        }
        self.s3.put_bucket_policy(Bucket=self.bucket, Policy=json.dumps(policy))
        self.assertEqual(fetch(page + "open/page")[2], b"for all")
        self.assertEqual(fetch(page + "closed/page")[0], 403)
        self.assertEqual(fetch(page + "open/page", "PUT", b"mine")[0], 403)
        got = json.loads(self.s3.get_bucket_policy(Bucket=self.bucket)["Policy"])
        self.assertEqual(got["Statement"][0]["Sid"], "open")
        self.s3.delete_bucket_policy(Bucket=self.bucket)
        self.assertEqual(fetch(page + "open/page")[0], 403)
        self.assertRefused("NoSuchBucketPolicy", self.s3.get_bucket_policy, Bucket=self.bucket)

    def test_malformed(self):
        """a policy that says nothing sensible is refused"""
        for policy in ("{", "{}", json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Maybe"}]})):
            self.assertRefused("MalformedPolicy", self.s3.put_bucket_policy, Bucket=self.bucket, Policy=policy)


class Origins(Checks):
    RULE = {
        "ID": "page",
        "AllowedOrigins": ["https://page.example"],
        "AllowedMethods": ["PUT"],
        "AllowedHeaders": ["content-*"],
        "ExposeHeaders": ["ETag"],
        "MaxAgeSeconds": 60,
    }

    def preflight(self, origin, method, headers="content-type"):
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": headers,
        }
        return fetch(f"{ENDPOINT}/{self.bucket}/key", "OPTIONS", None, asked)

    def test_cors(self):
        """rules for other origins are kept, answer preflights, and are deleted"""
        self.s3.put_bucket_cors(Bucket=self.bucket, CORSConfiguration={"CORSRules": [self.RULE]})
        self.assertEqual(self.s3.get_bucket_cors(Bucket=self.bucket)["CORSRules"], [self.RULE])
        status, headers, _ = self.preflight("https://page.example", "PUT")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Access-Control-Allow-Origin"], "https://page.example")
        self.assertEqual(headers["Access-Control-Max-Age"], "60")
        self.assertEqual(self.preflight("https://other.example", "PUT")[0], 403)
        self.assertEqual(self.preflight("https://page.example", "DELETE")[0], 403)
        self.assertEqual(self.preflight("https://page.example", "PUT", "x-other")[0], 403)
        self.s3.delete_bucket_cors(Bucket=self.bucket)
        self.assertEqual(self.preflight("https://page.example", "PUT")[0], 403)
        self.assertRefused("NoSuchCORSConfiguration", self.s3.get_bucket_cors, Bucket=self.bucket)


class Lifecycles(Checks):
    def test_lifecycle(self):
        """a lifecycle is kept as it was put, and deleted"""
        rules = [
            {
                "ID": "and",
                "Status": "Enabled",
                "Filter": {
                    "And": {
                        "Prefix": "logs/",
                        "ObjectSizeGreaterThan": 1,
                        "ObjectSizeLessThan": 1000,
                        "Tags": [{"Key": "kind", "Value": "log"}],
                    }
                },
                "Expiration": {"Days": 30},
            },
            {
                "ID": "older",
                "Status": "Disabled",
                "Filter": {"Prefix": ""},
                "NoncurrentVersionExpiration": {"NoncurrentDays": 7, "NewerNoncurrentVersions": 3},
                "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2},
            },
        ]
        put = self.s3.put_bucket_lifecycle_configuration
        put(Bucket=self.bucket, LifecycleConfiguration={"Rules": rules})
        got = self.s3.get_bucket_lifecycle_configuration(Bucket=self.bucket)["Rules"]
        self.assertEqual(sorted(got, key=lambda rule: rule["ID"]), rules)
        bad = [{**rules[0], "Expiration": {"Days": 0}}]
        self.assertRefused("InvalidArgument", put, Bucket=self.bucket, LifecycleConfiguration={"Rules": bad})
        self.s3.delete_bucket_lifecycle(Bucket=self.bucket)
        self.assertRefused(
            "NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration, Bucket=self.bucket
        )
