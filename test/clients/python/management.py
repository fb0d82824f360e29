"""netapp-ontap as it comes, against the management interface. The docstring of each method is its name."""

import os
import unittest
import uuid

from netapp_ontap import HostConnection, NetAppRestError, config
from netapp_ontap.resources import (
    CLI,
    Aggregate,
    Cluster,
    IpInterface,
    QosPolicy,
    Qtree,
    QuotaRule,
    S3Bucket,
    S3Group,
    S3Policy,
    S3Service,
    S3User,
    Schedule,
    Snapshot,
    SnapshotPolicy,
    Svm,
    Volume,
)

MIB = 2**20


def connection(password=None):
    host, port = os.environ["MANAGEMENT"].removeprefix("https://").rsplit(":", 1)
    return HostConnection(
        host,
        port=int(port),
        username=os.environ["ADMIN"],
        password=password or os.environ["ADMIN_PASSWORD"],
        verify=False,
        poll_interval=0.2,
        poll_timeout=60,
    )


def fresh(prefix):
    return f"{prefix}_{uuid.uuid4().hex[:8]}"


class Management(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.CONNECTION = connection()

    def assertRefused(self, code, call, *args, **named):
        with self.assertRaises(NetAppRestError) as caught:
            call(*args, **named)
        self.assertEqual(str(caught.exception.response_body["error"]["code"]), str(code))

    def volume(self, **more):
        volume = Volume(
            name=fresh("py"), svm={"name": "svm1"}, size=32 * MIB, guarantee={"type": "none"}, **more
        )
        volume.post(hydrate=True)
        self.addCleanup(lambda: volume.delete() if Volume.find(uuid=volume.uuid) else None)
        return volume

    def test_connect(self):
        """connects, and is told the release"""
        cluster = Cluster()
        cluster.get(fields="version,name")
        self.assertEqual(cluster.version.generation, 9)
        self.assertGreaterEqual(cluster.version.major, 16)

    def test_wrong_password(self):
        """a wrong password is refused"""
        with connection("not the password"):
            with self.assertRaises(NetAppRestError) as caught:
                Cluster().get()
        self.assertEqual(caught.exception.status_code, 401)

    def test_create(self):
        """a volume is made by a job that is polled, and read back with what the cluster chose"""
        volume = self.volume(comment="made by Python", nas={"unix_permissions": 750})
        self.assertEqual((volume.state, volume.comment, volume.size), ("online", "made by Python", 32 * MIB))
        volume.get(fields="aggregates,nas,snapshot_policy")
        self.assertEqual(volume.aggregates[0].name, "aggr1")
        self.assertEqual(volume.nas.unix_permissions, 750)

    def test_modify(self):
        """a volume is changed, and only by what was changed"""
        volume = self.volume(comment="before")
        volume.size = 64 * MIB
        volume.patch(hydrate=True)
        self.assertEqual((volume.size, volume.comment), (64 * MIB, "before"))
        volume.name = fresh("renamed")
        volume.patch(hydrate=True)
        self.assertTrue(volume.name.startswith("renamed"))

    def test_delete(self):
        """a volume is deleted, and not found any more"""
        volume = self.volume()
        volume.delete()
        self.assertIsNone(Volume.find(name=volume.name))
        self.assertRefused(4, Volume(uuid=volume.uuid).get)

    def test_refused_job(self):
        """what a job cannot do is an error with the code of the cluster"""
        volume = self.volume()
        again = Volume(name=volume.name, svm={"name": "svm1"}, size=32 * MIB)
        self.assertRefused(917526, again.post)
        self.assertRefused(917525, Qtree(name="q", svm={"name": "svm1"}, volume={"name": "none"}).post)

    def test_collection(self):
        """a collection is read page by page, filtered, sorted and counted"""
        names = sorted(self.volume().name for _ in range(3))
        found = Volume.get_collection(name="|".join(names), order_by="name desc", max_records=1, fields="name,size")
        self.assertEqual([volume.name for volume in found], names[::-1])
        self.assertEqual(Volume.count_collection(name="|".join(names)), 3)
        self.assertEqual(list(Volume.get_collection(name="none at all")), [])
        self.assertEqual(Volume.find(name=names[0]).svm.name, "svm1")

    def test_every_collection(self):
        """collections are read with all their fields"""
        for kind in (Aggregate, IpInterface, QosPolicy, Qtree, S3Bucket, Schedule, SnapshotPolicy, Svm, Volume):
            with self.subTest(kind.__name__):
                for record in kind.get_collection(fields="*"):
                    record.to_dict()

    def test_snapshots(self):
        """snapshots are taken, listed, renamed and deleted, and a volume goes back to one"""
        volume = self.volume()
        for name in ("first", "second"):
            Snapshot(volume.uuid, name=name, comment=f"the {name}").post()
        first = Snapshot.find(volume.uuid, name="first")
        first.get()
        self.assertEqual(first.comment, "the first")
        first.name = "renamed"
        first.patch()
        volume.patch(**{"restore_to.snapshot.name": "renamed"})
        self.assertEqual([found.name for found in Snapshot.get_collection(volume.uuid)], ["renamed"])
        Snapshot.find(volume.uuid, name="renamed").delete()
        self.assertEqual(Snapshot.count_collection(volume.uuid), 0)

    def test_clone(self):
        """a clone is made of a volume, and split from it"""
        parent = self.volume()
        clone = Volume(
            name=fresh("clone"),
            svm={"name": "svm1"},
            clone={"is_flexclone": True, "parent_volume": {"name": parent.name}},
        )
        clone.post(hydrate=True)
        clone.get(fields="clone")
        self.assertEqual(clone.clone.parent_volume.name, parent.name)
        split = Volume(uuid=clone.uuid)
        split.clone = {"split_initiated": True}
        split.patch()
        clone.get(fields="clone")
        self.assertFalse(clone.clone.is_flexclone)
        clone.delete()

    def test_svm(self):
        """an SVM is made, changed and deleted"""
        svm = Svm(name=fresh("svm"), comment="made by Python", snapshot_policy={"name": "default"})
        svm.post(hydrate=True)
        svm.comment = "changed by Python"
        svm.patch()
        svm.get()
        self.assertEqual((svm.state, svm.comment), ("running", "changed by Python"))
        svm.delete()
        self.assertIsNone(Svm.find(name=svm.name))

    def test_quotas(self):
        """a qtree gets a quota"""
        volume = self.volume()
        qtree = Qtree(name="projects", svm={"name": "svm1"}, volume={"uuid": volume.uuid})
        qtree.post(hydrate=True)
        self.assertEqual(qtree.security_style, "unix")
        rule = QuotaRule(
            type="tree",
            svm={"name": "svm1"},
            volume={"uuid": volume.uuid},
            qtree={"name": "projects"},
            space={"hard_limit": 16 * MIB},
        )
        rule.post(hydrate=True)
        rule.space.hard_limit = 20 * MIB
        rule.patch(hydrate=True)
        self.assertEqual(rule.space.hard_limit, 20 * MIB)
        rule.delete()
        qtree.delete()

    def test_policies(self):
        """schedules, snapshot policies and QoS policies are made, changed and deleted"""
        schedule = Schedule(name=fresh("schedule"), cron={"minutes": [5], "hours": [1, 2]})
        schedule.post(hydrate=True)
        policy = SnapshotPolicy(name=fresh("policy"), copies=[{"schedule": {"name": schedule.name}, "count": 3}])
        policy.post(hydrate=True)
        policy.enabled = False
        policy.patch(hydrate=True)
        self.assertEqual((policy.enabled, policy.copies[0].count), (False, 3))
        qos = QosPolicy(name=fresh("qos"), svm={"name": "svm1"}, fixed={"max_throughput_iops": 100})
        qos.post(hydrate=True)
        self.assertEqual(qos.fixed.max_throughput_iops, 100)
        for made in (qos, policy, schedule):
            made.delete()

    def test_commands(self):
        """commands show, make, change and delete"""
        name = fresh("cli")
        CLI().execute("volume create", body={"vserver": "svm1", "volume": name, "size": "20MB", "space-guarantee": "none"})
        CLI().execute("volume modify", vserver="svm1", volume=name, body={"comment": "by a command"})
        shown = CLI().execute("volume show", volume=name, fields="comment,size").http_response.json()
        self.assertEqual(
            shown["records"],
            [{"vserver": "svm1", "volume": name, "comment": "by a command", "size": 20 * MIB}],
        )
        CLI().execute("volume delete", vserver="svm1", volume=name)
        self.assertEqual(Volume.count_collection(name=name), 0)

    def test_object_store(self):
        """a bucket, a user with keys, a policy and a group of the object store are made, changed and deleted"""
        svm = Svm(name=fresh("svm"))
        svm.post(hydrate=True)
        service = S3Service(name="objects.example", svm={"uuid": svm.uuid}, comment="made by Python")
        service.post(hydrate=True)
        self.assertEqual((service.enabled, service.port, service.secure_port), (True, 80, 443))
        bucket = S3Bucket(name=f"py-{uuid.uuid4().hex[:8]}", svm={"uuid": svm.uuid}, size=2**30)
        bucket.post(hydrate=True, return_timeout=15)
        bucket.comment = "changed by Python"
        bucket.policy = {
            "statements": [{"effect": "allow", "actions": ["GetObject"], "principals": ["*"], "resources": ["*"]}]
        }
        bucket.patch(hydrate=True)
        self.assertEqual(bucket.comment, "changed by Python")
        user = S3User(service.svm.uuid, name=fresh("user"))
        made = user.post(hydrate=False).http_response.json()["records"][0]
        self.assertTrue(made["access_key"] and made["secret_key"])
        policy = S3Policy(
            service.svm.uuid,
            name=fresh("policy"),
            statements=[{"effect": "allow", "actions": ["*"], "resources": [bucket.name]}],
        )
        policy.post()
        group = S3Group(
            service.svm.uuid, name=fresh("group"), users=[{"name": user.name}], policies=[{"name": policy.name}]
        )
        group.post(hydrate=True)
        self.assertEqual([member.name for member in group.users], [user.name])
        for thing in (group, policy, user, bucket, service):
            thing.delete()
        self.assertIsNone(S3Bucket.find(name=bucket.name))
        self.assertEqual(S3Service.count_collection(**{"svm.name": svm.name}), 0)
