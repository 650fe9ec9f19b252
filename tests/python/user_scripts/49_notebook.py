# A notebook's cells, one after the other; the optimizer's cell is run twice, as one does.
# needs: notebook
# every run
# differs: what is set is put back when the kernel ends, and one WARNING says so
import json

import nbformat
from nbclient import NotebookClient

CELLS = ["""
import json, time, warnings
warnings.simplefilter("ignore")
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer
monitor = ZeusMonitor(gpu_indices=[0])
""", """
monitor.begin_window("cell", restart=True)
time.sleep(1.0)
""", """
result = monitor.end_window("cell")
result.gpu_energy.keys(), result
"""]
TRAINING = """
plo = GlobalPowerLimitOptimizer(monitor, Energy(), wait_steps=0, warmup_steps=1, profile_steps=4, pl_step=100)
plo.on_epoch_begin()
for _ in range(14):
    plo.on_step_begin(); time.sleep(0.03); plo.on_step_end()
plo.on_epoch_end()
print(json.dumps([type(plo.state).__name__, [each.power_limit for each in plo.measurements]]))
"""
LAST = 'print(json.dumps({"time": result.time, "gpu_energy": result.gpu_energy}))'
order = [*CELLS, CELLS[1], CELLS[1], CELLS[2], TRAINING, TRAINING, LAST]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in order])
NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
printed = [output["text"] for cell in notebook.cells for output in cell.outputs if output.get("name") == "stdout"]
shown = [output["data"]["text/plain"] for cell in notebook.cells for output in cell.outputs if output.output_type == "execute_result"]
print(json.dumps({"same": {"trainings": [json.loads(each) for each in printed[:2]], "shown": ["Measurement(time=" in each for each in shown]},
                  "measured": [json.loads(printed[2])]}))
