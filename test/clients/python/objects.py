"""Objects: up, down, listed, copied, by address, versions."""

import hashlib
import io
import os
import tempfile
import time
import uuid

import boto3
from botocore.config import Config

from store import ENDPOINT_TLS, MIB, Checks, client, fetch


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Transfers(Checks):
    def test_small(self):
        """put_object and get_object carry metadata, headers and a checksum that is verified on both sides"""
        put = self.put(
            "ünd/ein+zwei & drei",
            ContentType="text/plain",
            CacheControl="max-age=60",
            ContentDisposition='attachment; filename="drei"',
            Metadata={"colour": "green"},
        )
        self.assertEqual(put["ETag"], f'"{hashlib.md5(b"text").hexdigest()}"')
        sums = [name for name in put if name.startswith("Checksum") and name != "ChecksumType"]
        self.assertEqual(len(sums), 1, put)
        got = self.s3.get_object(Bucket=self.bucket, Key="ünd/ein+zwei & drei", ChecksumMode="ENABLED")
        self.assertEqual(got["Body"].read(), b"text")
        self.assertEqual(got[sums[0]], put[sums[0]])
        self.assertEqual(got["Metadata"], {"colour": "green"})
        self.assertEqual(got["CacheControl"], "max-age=60")
        self.assertEqual(got["ContentDisposition"], 'attachment; filename="drei"')
        self.assertEqual(got["ContentType"], "text/plain")

    def test_algorithms(self):
        """put_object sends the checksum that it is told to"""
        for name in ("CRC32", "SHA1", "SHA256"):
            with self.subTest(name):
                put = self.put(name, ChecksumAlgorithm=name)
                head = self.s3.head_object(Bucket=self.bucket, Key=name, ChecksumMode="ENABLED")
                self.assertEqual(head[f"Checksum{name}"], put[f"Checksum{name}"])

    def test_wrong_checksum(self):
        """a checksum that is not the body's is refused and nothing is stored"""
        # botocore takes it for an accident on the way and sends it again, four times and more slowly each.
        once = client(config=Config(retries={"max_attempts": 0}))
        wrong = {"Bucket": self.bucket, "Key": "bad", "Body": b"text", "ChecksumSHA256": "A" * 43 + "="}
        self.assertRefused("BadDigest", once.put_object, **wrong)
        self.assertRefused("404", self.s3.head_object, Bucket=self.bucket, Key="bad")

    def test_tls(self):
        """over TLS the checksum comes behind the body, and none of it is stored"""
        data = os.urandom(3 * MIB + 1)
        tls = boto3.client("s3", endpoint_url=ENDPOINT_TLS, verify=False)
        tls.put_object(Bucket=self.bucket, Key="tls", Body=io.BytesIO(data))
        self.assertEqual(digest(tls.get_object(Bucket=self.bucket, Key="tls")["Body"].read()), digest(data))
        self.assertNotIn("ContentEncoding", self.s3.head_object(Bucket=self.bucket, Key="tls"))

    def test_files(self):
        """upload_file sends a large file in parts and download_file brings it back"""
        with tempfile.TemporaryDirectory() as folder:
            source, back = os.path.join(folder, "source"), os.path.join(folder, "back")
            data = os.urandom(41 * MIB + 7)
            with open(source, "wb") as file:
                file.write(data)
            sent = []
            self.s3.upload_file(source, self.bucket, "file", Callback=sent.append, ExtraArgs={"Metadata": {"a": "b"}})
            self.assertEqual(sum(sent), len(data))
            self.s3.download_file(self.bucket, "file", back)
            with open(back, "rb") as file:
                self.assertEqual(digest(file.read()), digest(data))
        head = self.s3.head_object(Bucket=self.bucket, Key="file")
        self.assertRegex(head["ETag"], r'-6"$')
        self.assertEqual(head["Metadata"], {"a": "b"})

    def test_streams(self):
        """upload_fileobj and download_fileobj move a stream"""
        data = os.urandom(19 * MIB)
        self.s3.upload_fileobj(io.BytesIO(data), self.bucket, "stream")
        back = io.BytesIO()
        self.s3.download_fileobj(self.bucket, "stream", back)
        self.assertEqual(digest(back.getvalue()), digest(data))

    def test_multipart(self):
        """a multipart upload by hand: parts again, out of order, listed, completed with a checksum of the whole"""
        place = {"Bucket": self.bucket, "Key": "by hand"}
        upload = {**place, "UploadId": self.s3.create_multipart_upload(**place, ChecksumAlgorithm="CRC32")["UploadId"]}
        data = [os.urandom(5 * MIB), b"the end"]
        parts = {}
        for number, body in ((2, b"not this"), (2, data[1]), (1, data[0])):
            answer = self.s3.upload_part(**upload, PartNumber=number, Body=body, ChecksumAlgorithm="CRC32")
            parts[number] = {"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": answer["ChecksumCRC32"]}
        uploads = self.s3.list_multipart_uploads(Bucket=self.bucket)["Uploads"]
        self.assertEqual([each["Key"] for each in uploads], ["by hand"])
        listed = self.s3.list_parts(**upload)["Parts"]
        self.assertEqual([(each["PartNumber"], each["Size"]) for each in listed], [(1, 5 * MIB), (2, 7)])
        done = self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [parts[1], parts[2]]})
        self.assertRegex(done["ChecksumCRC32"], r"-2$")
        self.assertEqual(self.read("by hand"), b"".join(data))
        self.assertEqual(self.read("by hand", PartNumber=2), b"the end")
        self.assertNotIn("Uploads", self.s3.list_multipart_uploads(Bucket=self.bucket))

    def test_ranges(self):
        """ranges and conditions of a read"""
        etag = self.put("range", b"0123456789")["ETag"]
        self.assertEqual(self.read("range", Range="bytes=2-4"), b"234")
        self.assertEqual(self.read("range", Range="bytes=-3"), b"789")
        self.assertRefused("InvalidRange", self.read, "range", Range="bytes=10-")
        self.assertRefused("304", self.read, "range", IfNoneMatch=etag)
        self.assertRefused("PreconditionFailed", self.read, "range", IfMatch='"0"')

    def test_conditional_writes(self):
        """a write with a condition replaces only what it should"""
        etag = self.put("condition", b"one", IfNoneMatch="*")["ETag"]
        self.assertRefused("PreconditionFailed", self.put, "condition", b"two", IfNoneMatch="*")
        self.put("condition", b"three", IfMatch=etag)
        self.assertRefused("PreconditionFailed", self.put, "condition", b"four", IfMatch=etag)
        self.assertEqual(self.read("condition"), b"three")

    def test_copy(self):
        """copy_object and the managed copy keep or replace metadata, and copy large objects in parts"""
        self.put("source & ü", b"copied", Metadata={"colour": "green"})
        source = {"Bucket": self.bucket, "Key": "source & ü"}
        self.s3.copy_object(Bucket=self.bucket, Key="kept", CopySource=source)
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="kept")["Metadata"], {"colour": "green"})
        replace = {"MetadataDirective": "REPLACE", "Metadata": {"colour": "red"}}
        self.s3.copy_object(Bucket=self.bucket, Key="replaced", CopySource=source, **replace)
        self.assertEqual(self.s3.head_object(Bucket=self.bucket, Key="replaced")["Metadata"], {"colour": "red"})
        data = os.urandom(12 * MIB)
        self.s3.upload_fileobj(io.BytesIO(data), self.bucket, "large")
        config = boto3.s3.transfer.TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
        self.s3.copy({"Bucket": self.bucket, "Key": "large"}, self.bucket, "large copy", Config=config)
        self.assertEqual(digest(self.read("large copy")), digest(data))

    def test_delete(self):
        """delete_objects removes what is there, and says so of what is not"""
        for key in ("one", "two <&> three", "ünd"):
            self.put(key)
        keys = [{"Key": key} for key in ("one", "two <&> three", "ünd", "never was")]
        answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys})
        self.assertEqual({each["Key"] for each in answer["Deleted"]}, {each["Key"] for each in keys})
        self.assertNotIn("Errors", answer)
        self.assertRefused("NoSuchKey", self.read, "one")
        self.s3.delete_object(Bucket=self.bucket, Key="never was")

    def test_attributes(self):
        """get_object_attributes tells size, parts and checksum"""
        self.s3.upload_fileobj(io.BytesIO(os.urandom(9 * MIB)), self.bucket, "attributes")
        wanted = ["ETag", "ObjectSize", "ObjectParts", "Checksum", "StorageClass"]
        got = self.s3.get_object_attributes(Bucket=self.bucket, Key="attributes", ObjectAttributes=wanted)
        self.assertEqual(got["ObjectSize"], 9 * MIB)
        self.assertEqual(got["ObjectParts"]["TotalPartsCount"], 2)
        self.assertIn("ChecksumCRC32", got["Checksum"])


class Listings(Checks):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = sorted(f"folder {at % 4}/key+{at:02} ü&<" for at in range(40))
        for key in cls.keys:
            cls.s3.put_object(Bucket=cls.bucket, Key=key, Body=key.encode())

    def pages(self, name, **more):
        return list(self.s3.get_paginator(name).paginate(Bucket=self.bucket, **more))

    def test_both(self):
        """both listings give every key once, in order, at any page size"""
        for name in ("list_objects", "list_objects_v2"):
            for size in (1, 7, 40, 1000):
                with self.subTest(f"{name}, {size} a page"):
                    pages = self.pages(name, PaginationConfig={"PageSize": size})
                    self.assertEqual([each["Key"] for page in pages for each in page.get("Contents", [])], self.keys)
                    self.assertLessEqual(len(pages), -(-40 // size))

    def test_levels(self):
        """both listings fold by a delimiter and a prefix, page by page"""
        for name in ("list_objects", "list_objects_v2"):
            with self.subTest(name):
                pages = self.pages(name, Delimiter="/", PaginationConfig={"PageSize": 3})
                folders = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])]
                self.assertEqual(folders, [f"folder {at}/" for at in range(4)])
                pages = self.pages(name, Prefix="folder 2/", Delimiter="/", PaginationConfig={"PageSize": 3})
                self.assertEqual(sum(len(page["Contents"]) for page in pages), 10)

    def test_start(self):
        """a listing starts behind a key"""
        pages = self.pages("list_objects_v2", StartAfter=self.keys[34], FetchOwner=True)
        self.assertEqual([each["Key"] for each in pages[0]["Contents"]], self.keys[35:])
        self.assertIn("Owner", pages[0]["Contents"][0])

    def test_versions(self):
        """the listing of versions gives each version and each delete marker once, at any page size"""
        s3, bucket = self.s3, self.new_bucket()
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        for key in ("a", "b", "c"):
            for body in (b"1", b"2", b"3"):
                s3.put_object(Bucket=bucket, Key=key, Body=body)
            s3.delete_object(Bucket=bucket, Key=key)
        for size in (1, 2, 5, 1000):
            with self.subTest(f"{size} a page"):
                pages = list(
                    s3.get_paginator("list_object_versions").paginate(Bucket=bucket, PaginationConfig={"PageSize": size})
                )
                versions = [each for page in pages for each in page.get("Versions", [])]
                markers = [each for page in pages for each in page.get("DeleteMarkers", [])]
                self.assertEqual([each["Key"] for each in versions], list("aaabbbccc"))
                self.assertEqual([(each["Key"], each["IsLatest"]) for each in markers], [(key, True) for key in "abc"])
                self.assertEqual(len({each["VersionId"] for each in versions + markers}), 12)

    def test_buckets(self):
        """list_buckets names the bucket, also page by page"""
        names = [each["Name"] for each in self.s3.list_buckets()["Buckets"]]
        self.assertIn(self.bucket, names)
        pages = self.s3.get_paginator("list_buckets").paginate(PaginationConfig={"PageSize": 1})
        self.assertEqual([each["Name"] for page in pages for each in page["Buckets"]], names)

    def test_location(self):
        """head_bucket, get_bucket_location and a bucket that is not there"""
        self.assertEqual(self.s3.head_bucket(Bucket=self.bucket)["ResponseMetadata"]["HTTPStatusCode"], 200)
        self.assertIsNone(self.s3.get_bucket_location(Bucket=self.bucket)["LocationConstraint"])
        self.assertRefused("404", self.s3.head_bucket, Bucket="is-not-there")
        self.assertRefused("NoSuchBucket", self.s3.list_objects_v2, Bucket="is-not-there")


class Versions(Checks):
    def test_versions(self):
        """versions are kept, read, deleted and restored"""
        s3, bucket = self.s3, self.bucket
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        self.assertEqual(s3.get_bucket_versioning(Bucket=bucket)["Status"], "Enabled")
        one, two = (self.put("key", body)["VersionId"] for body in (b"one", b"two"))
        self.assertEqual(self.read("key"), b"two")
        self.assertEqual(self.read("key", VersionId=one), b"one")
        marker = s3.delete_object(Bucket=bucket, Key="key")
        self.assertTrue(marker["DeleteMarker"])
        self.assertRefused("NoSuchKey", self.read, "key")
        s3.delete_object(Bucket=bucket, Key="key", VersionId=marker["VersionId"])
        self.assertEqual(self.read("key"), b"two")
        s3.delete_object(Bucket=bucket, Key="key", VersionId=two)
        self.assertEqual(self.read("key"), b"one")
        self.assertRefused("NoSuchVersion", self.read, "key", VersionId=two)

    def test_resource(self):
        """the resource interface empties a bucket of all its versions and deletes it"""
        name = self.new_bucket()
        bucket = boto3.resource("s3", endpoint_url=self.s3.meta.endpoint_url).Bucket(name)
        bucket.Versioning().enable()
        for body in (b"one", b"two"):
            bucket.put_object(Key="key", Body=body)
        bucket.Object("key").delete()
        self.assertEqual(len(list(bucket.object_versions.all())), 3)
        bucket.object_versions.delete()
        bucket.delete()
        self.assertRefused("404", self.s3.head_bucket, Bucket=name)


class Addresses(Checks):
    """Presigned: by default botocore signs addresses as of old (version 2), and by version 4 when it is told to."""

    def check_addresses(self, s3):
        place = {"Bucket": self.bucket, "Key": f"by address/{uuid.uuid4().hex} ü+"}
        put = s3.generate_presigned_url("put_object", Params=place, ExpiresIn=60)
        self.assertEqual(fetch(put, "PUT", b"by address")[0], 200)
        got = s3.generate_presigned_url("get_object", Params={**place, "ResponseContentType": "text/x"}, ExpiresIn=60)
        status, headers, body = fetch(got)
        self.assertEqual((status, headers["Content-Type"], body), (200, "text/x", b"by address"))
        self.assertEqual(fetch(got, "DELETE")[0], 403)
        self.assertEqual(fetch(got.replace("by%20address/", "by%20address/x"))[0], 403)
        gone = s3.generate_presigned_url("delete_object", Params=place, ExpiresIn=60)
        self.assertEqual(fetch(gone, "DELETE")[0], 204)
        self.assertEqual(fetch(got)[0], 404)

    def test_version_4(self):
        """presigned addresses put, read and delete, and open nothing else"""
        self.check_addresses(client(config=Config(signature_version="s3v4")))

    def test_default(self):
        """presigned addresses as boto3 signs them by default, by version 2, are refused by name"""
        place = {"Bucket": self.bucket, "Key": f"by address/{uuid.uuid4().hex}"}
        status, _, body = fetch(self.s3.generate_presigned_url("put_object", Params=place, ExpiresIn=60), "PUT", b"x")
        self.assertEqual(status, 400)
        self.assertIn(b"AWS4-HMAC-SHA256", body)

    def test_expired(self):
        """a presigned address ends when it says"""
        self.put("short")
        s3 = client(config=Config(signature_version="s3v4"))
        address = s3.generate_presigned_url("get_object", Params={"Bucket": self.bucket, "Key": "short"}, ExpiresIn=1)
        time.sleep(2.2)
        self.assertEqual(fetch(address)[0], 403)
