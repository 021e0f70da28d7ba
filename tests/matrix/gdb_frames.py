# gdb_frames.py -- for gdb -x: the real frames of the thread that a core is about, down to
# main, as "address<TAB>name<TAB>linkage name<TAB>line". The handler's own are left out,
# and those that gdb puts back: inlined calls and tail calls.
import gdb

LIMIT = 300


def stack():
    frames = []
    frame = gdb.newest_frame()
    while frame and len(frames) < LIMIT:
        frames.append(frame)
        if (frame.name() or "").split("::")[-1] == "main":
            break
        try:
            frame = frame.older()
        except gdb.error:
            break
    return frames


frames = stack()
handlers = [i for i, frame in enumerate(frames) if frame.type() == gdb.SIGTRAMP_FRAME]
for frame in frames[handlers[-1] + 1 if handlers else 0 :]:
    if frame.type() in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
        continue
    place = frame.find_sal()
    function = frame.function()
    print("frame\t%#x\t%s\t%s\t%d" % (
        frame.pc(),
        frame.name() or "-",
        function.linkage_name if function else "-",
        place.line if place.symtab else 0,
    ))
