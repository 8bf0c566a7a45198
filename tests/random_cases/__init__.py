"""Random cases of the whole operator, against an oracle whose bound follows from rounding alone.

``cases`` draws a case from (seed, number) and makes a failing one small, ``values`` and ``layouts`` make its arrays,
``bounds`` and ``oracle`` say what the result must be and how far it may be off, ``check`` runs a case on an executor.

    python -m tests.random_cases SEED NUMBER        # run one case again, in the emulator; --gpu: on the GPU
    python -m tests.random_cases --count 5000       # many, in the emulator
    python -m tests.hardware.random_cases           # 100 000 on the GPU
"""
