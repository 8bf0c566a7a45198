"""The speed of policy "fast" at row lengths drawn at random.

    python -m softlab.bench.record.sweep prepare FOLDER [SEED]   # draw the lengths and compile; needs no GPU
    python -m softlab.bench.record.sweep measure FOLDER OUT      # on the GPU, less than 100 seconds
    python -m softlab.bench.record.sweep collect OUT FILE.json   # the recording

Listed lengths hide holes between them. Here each length is log-uniform from 1 to 2^24. Another seed draws others.
"""
