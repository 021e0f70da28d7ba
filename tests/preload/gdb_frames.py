"""gdb_frames.py -- run by gdb: the frames of every thread as JSON, but those of inlining
and of tail calls, which have no place on the stack."""
import json

import gdb

skipped = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frames = threads.setdefault(thread.ptid[1], [])
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < 200:
        if frame.type() not in skipped:
            sal = frame.find_sal()
            known = sal.symtab is not None
            frames.append([frame.pc(), frame.name(), sal.line if known else None,
                           sal.symtab.filename if known else ""])
        frame = frame.older()
print("FRAMES " + json.dumps(threads))
