# What Patroni does since 3.0.3, for the older version of the tests: a primary whose lease has ended renews the leader key only while the key
# is its own or nobody's. Python loads this file before any program.
from patroni.dcs.etcd3 import Etcd3, Etcd3Client, base64_encode

put_any = Etcd3Client.put
update_leader = Etcd3._update_leader


def put(self, key, value, lease=None, create_revision=None, mod_revision=None, retry=None):
    if not key.endswith('/leader') or create_revision is not None or mod_revision is not None:
        return put_any(self, key, value, lease, create_revision, mod_revision, retry)
    fields = {'key': base64_encode(key), 'value': base64_encode(value), 'lease': lease}
    is_own = {'key': fields['key'], 'target': 'VALUE', 'value': fields['value']}
    is_free = {'key': fields['key'], 'target': 'CREATE', 'create_revision': '0'}
    self.renewed = any(self.txn(compare, {'request_put': fields}, retry) for compare in (is_own, is_free))
    return self.renewed


def update_if_own(self):
    self._client.renewed = True
    return update_leader(self) and self._client.renewed


Etcd3Client.put = put
Etcd3._update_leader = update_if_own
