"""Copies a file to a host or from it, by the connection alone.

`copy` and `fetch` of Ansible start Python on the host, which a NAS may have none of, or a 2.
"""
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Takes `put` or `get`, and `to`; paths of this machine are absolute."""

    TRANSFERS_FILES = True
    _VALID_ARGS = frozenset(("put", "get", "to"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        put, get, to = (self._task.args.get(name) for name in ("put", "get", "to"))
        if not to or bool(put) == bool(get):
            raise AnsibleActionFail("expected `to`, and either `put` or `get`")
        if put:
            self._connection.put_file(put, to)
        else:
            self._connection.fetch_file(get, to)
        result.update(changed=True, to=to)
        return result
