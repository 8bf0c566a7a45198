"""The recorder of :mod:`softlab.hardware.atlas`: microbenchmarks of a GPU, one or several per row.

python -m softlab.bench.record.atlas prepare FOLDER       # NVRTC and nvdisasm, no GPU: kernels, each of them checked
python -m softlab.bench.record.atlas measure FOLDER OUT   # GPU; NumPy and CuPy: OUT/atlas.json, within 200 s
python -m softlab.bench.record.atlas collect OUT          # -> softlab/hardware/data/atlas_h200.json

``jobs`` lists the rows. ``core`` and ``memory_steps`` have a step of inline PTX for each class of instructions;
``templates`` makes chains and streams of it; ``memory.cu``, ``control.cu``, ``contention.cu``, ``launched.cu`` and
``icache`` are the other kernels. ``contention_jobs`` lists what many warps want at once, and how a launch begins;
``crowded_jobs`` (``crowded.cu``) what they do beside each other; ``launched_jobs`` lists whole launches, requests of
several lines, branches and operations.
``checks`` reads in the machine code that the measured part has the measured instructions, as many as there must be:
the compiler removes, merges and replaces what it can. ``patching`` changes the machine code where the compiler does
not write what is to be measured. ``methods``, ``memory_methods`` and ``contention_methods`` measure.
"""
