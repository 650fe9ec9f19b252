"""One rank of a pipelined training with the existing package's own PipelineFrequencyOptimizer, unmodified, on virtual
GPUs. Run by existing_pipelines_test.py under torch.distributed.run; prints what the rank got as one line of JSON.

  existing_pipeline_rank.py SERVER_URL STAGES

The stand-ins are for CUDA alone. Its helper process is started with `spawn`, because the virtual driver does not outlive a fork.
"""

import json
import multiprocessing
import sys
import time


def clock_of(gpu: int) -> int:
    import pynvml

    return pynvml.nvmlDeviceGetClockInfo(pynvml.nvmlDeviceGetHandleByIndex(gpu), pynvml.NVML_CLOCK_SM)


def run() -> None:
    import pynvml
    import torch
    import torch.distributed

    torch.cuda.is_available = lambda: True
    torch.cuda.set_device = lambda *_: None
    torch.cuda.synchronize = lambda *_: None
    from zeus.optimizer.pipeline_frequency import PipelineFrequencyOptimizer

    url, stages = sys.argv[1], int(sys.argv[2])
    torch.distributed.init_process_group("gloo")
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    copies = world // stages
    pynvml.nvmlInit()
    optimizer = PipelineFrequencyOptimizer(
        rank=rank, dp_rank=rank // stages, pp_rank=rank % stages, tp_rank=0, device_id=rank, dp_degree=copies, pp_degree=stages,
        tp_degree=1, world_size=world, server_url=url, job_metadata="test")
    seen = []
    for name, clock in optimizer.freq_schedule:
        optimizer.on_instruction_begin(name)
        deadline = time.monotonic() + 60
        while abs(clock_of(rank) - clock) > 15 and time.monotonic() < deadline:
            time.sleep(0.01)
        seen.append(clock_of(rank))
        optimizer.on_instruction_end(name)
    optimizer.on_step_end()
    line = {"rank": rank, "stage": rank % stages, "job": optimizer.job_id, "schedule": optimizer.freq_schedule, "seen": seen}
    sys.stdout.write(json.dumps(line) + "\n")  # in one piece
    sys.stdout.flush()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    run()
