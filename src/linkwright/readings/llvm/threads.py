"""LLVM IR that splits states between threads, which are created for each call.

@loop      what NumPy calls: names the function of a range of states
@ranges    one range of states, or a split into shares of whole blocks
@split     starts a thread for every share but the first, which is the caller's, and waits
@start     starts one of them; if no thread can be created, the caller does its work
@work      computes the thread's range of states, then stores its floating-point flags
@wait      waits for one of them; its flags become the caller's
"""

from __future__ import annotations

MIN_WORK_PER_THREAD = 2_000_000
"""Instructions × states that are worth a thread (tens of microseconds to start)."""

_JOB_IR = """
%job = type { ptr, ptr, ptr, i64, i64, i32, i64, ptr }
; arguments, dimensions, strides, the first state and the one behind the last, flags, the thread,
; the function of a range of states
declare i32 @fetestexcept(i32)
declare i32 @feraiseexcept(i32)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
"""

_WORK_IR = """
define internal ptr @work(ptr %job) {
  %p0 = getelementptr %job, ptr %job, i32 0, i32 0
  %args = load ptr, ptr %p0
  %p1 = getelementptr %job, ptr %job, i32 0, i32 1
  %dimensions = load ptr, ptr %p1
  %p2 = getelementptr %job, ptr %job, i32 0, i32 2
  %steps = load ptr, ptr %p2
  %p3 = getelementptr %job, ptr %job, i32 0, i32 3
  %start = load i64, ptr %p3
  %p4 = getelementptr %job, ptr %job, i32 0, i32 4
  %end = load i64, ptr %p4
  %p7 = getelementptr %job, ptr %job, i32 0, i32 7
  %range = load ptr, ptr %p7
  call void %range(ptr %args, ptr %dimensions, ptr %steps, i64 %start, i64 %end)
  %p5 = getelementptr %job, ptr %job, i32 0, i32 5
  %flags = call i32 @fetestexcept(i32 63)
  store i32 %flags, ptr %p5
  ret ptr null
}
"""

_START_IR = """
define internal void @start(ptr %job, ptr %range, ptr %args, ptr %dimensions, ptr %steps, i64 %from, i64 %to) {
entry:
  %thread = getelementptr %job, ptr %job, i32 0, i32 6
  store i64 0, ptr %thread
  %nothing = icmp uge i64 %from, %to
  br i1 %nothing, label %done, label %create
create:
  store ptr %args, ptr %job
  %p1 = getelementptr %job, ptr %job, i32 0, i32 1
  store ptr %dimensions, ptr %p1
  %p2 = getelementptr %job, ptr %job, i32 0, i32 2
  store ptr %steps, ptr %p2
  %p3 = getelementptr %job, ptr %job, i32 0, i32 3
  store i64 %from, ptr %p3
  %p4 = getelementptr %job, ptr %job, i32 0, i32 4
  store i64 %to, ptr %p4
  %p7 = getelementptr %job, ptr %job, i32 0, i32 7
  store ptr %range, ptr %p7
  %code = call i32 @pthread_create(ptr %thread, ptr null, ptr @work, ptr %job)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %myself, label %done
myself:
  store i64 0, ptr %thread
  %ignored = call ptr @work(ptr %job)
  br label %done
done:
  ret void
}
"""

_WAIT_IR = """
define internal void @wait(ptr %job) {
entry:
  %place = getelementptr %job, ptr %job, i32 0, i32 6
  %thread = load i64, ptr %place
  %none = icmp eq i64 %thread, 0
  br i1 %none, label %done, label %join
join:
  %code = call i32 @pthread_join(i64 %thread, ptr null)
  %p5 = getelementptr %job, ptr %job, i32 0, i32 5
  %flags = load i32, ptr %p5
  %raised = call i32 @feraiseexcept(i32 %flags)
  br label %done
done:
  ret void
}
"""

_SPLIT_IR = """
define internal void @split(ptr %range, ptr %args, ptr %dimensions, ptr %steps, i64 %total, i64 %threads, i64 %own) {
entry:
  %jobs = alloca %job, i64 %threads
  br label %next
next:
  %n = phi i64 [1, %entry], [%n1, %next]
  %job = getelementptr %job, ptr %jobs, i64 %n
  %from = mul i64 %n, %own
  %end = add i64 %from, %own
  %over = icmp ugt i64 %end, %total
  %to = select i1 %over, i64 %total, i64 %end
  call void @start(ptr %job, ptr %range, ptr %args, ptr %dimensions, ptr %steps, i64 %from, i64 %to)
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, %threads
  br i1 %more, label %next, label %mine
mine:
  call void %range(ptr %args, ptr %dimensions, ptr %steps, i64 0, i64 %own)
  br label %waiting
waiting:
  %m = phi i64 [1, %mine], [%m1, %waiting]
  %other = getelementptr %job, ptr %jobs, i64 %m
  call void @wait(ptr %other)
  %m1 = add i64 %m, 1
  %more.waits = icmp ult i64 %m1, %threads
  br i1 %more.waits, label %waiting, label %done
done:
  ret void
}
"""


RANGES_DECLARATION = "declare void @ranges(ptr, ptr, ptr, ptr, ptr, i64)"


def thread_split_ir(lanes: int) -> str:
    """The IR of `@ranges` and of the functions that it calls, the same for all tapes."""
    return _JOB_IR + _WORK_IR + _START_IR + _WAIT_IR + _SPLIT_IR + _write_ranges(lanes)


def _write_ranges(lanes: int) -> str:
    """The function that uses as many threads as are allowed and worthwhile, with shares of whole
    blocks; a share has at least %worthwhile states."""
    return f"""
define void @ranges(ptr %args, ptr %dimensions, ptr %steps, ptr %data, ptr %range, i64 %worthwhile) {{
entry:
  %total = load i64, ptr %dimensions
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %done, label %measure
measure:
  %little = icmp ult i64 %total, %worthwhile
  br i1 %little, label %single, label %choose
choose:
  %allowed = load i64, ptr %data
  %worth = udiv i64 %total, %worthwhile
  %few = icmp ult i64 %worth, %allowed
  %threads = select i1 %few, i64 %worth, i64 %allowed
  %alone = icmp ult i64 %threads, 2
  br i1 %alone, label %single, label %several
single:
  call void %range(ptr %args, ptr %dimensions, ptr %steps, i64 0, i64 %total)
  ret void
several:
  %less = sub i64 %threads, 1
  %padded = add i64 %total, %less
  %share = udiv i64 %padded, %threads
  %rounded = add i64 %share, {lanes - 1}
  %own = and i64 %rounded, {-lanes}
  call void @split(ptr %range, ptr %args, ptr %dimensions, ptr %steps, i64 %total, i64 %threads, i64 %own)
  ret void
done:
  ret void
}}
"""


def ufunc_loop_ir(length: int, lanes: int) -> str:
    """The IR of `@loop`, which NumPy calls, for a tape of `length` instructions."""
    worthwhile = max(lanes, MIN_WORK_PER_THREAD // max(1, length))
    return f"""
define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {{
  tail call void @ranges(ptr %args, ptr %dimensions, ptr %steps, ptr %data, ptr @range, i64 {worthwhile})
  ret void
}}
"""
