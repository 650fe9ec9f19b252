"""What existing_client_test.py runs in an interpreter that has the existing package: its client of zeusd, every method."""

import json
import os

from zeus.utils.zeusd import ZeusdClient, ZeusdConfig


def main() -> None:
    client = ZeusdClient(ZeusdConfig.from_env())
    assert client.auth_error is None, client.auth_error
    assert client.can_read_gpu and client.can_read_cpu and client.can_control_gpu
    assert list(client.gpu_ids) == [0, 1] and list(client.cpu_ids) == [0, 1], (client.gpu_ids, client.cpu_ids)
    told = {name: repr(getattr(client, name)([0, 1]))
            for name in ("get_gpu_power", "get_gpu_energy", "get_power_limit", "get_power_limit_constraints",
                         "get_persistence_mode", "get_cpu_power")}
    told["get_cpu_energy"] = repr(client.get_cpu_energy([0], cpu=True, dram=True))
    told["get_time"] = repr(client.get_time())
    client.set_persistence_mode([1], True)
    client.set_gpu_locked_clocks([1], 600, 900)
    client.reset_gpu_locked_clocks([1])
    client.set_mem_locked_clocks([1], 1215, 1215)
    client.reset_mem_locked_clocks([1])
    client.set_power_limit([0, 1], 250_000)
    print(json.dumps(told), flush=True)
    os.read(0, 1)  # until what it has set was looked at


if __name__ == "__main__":
    main()
