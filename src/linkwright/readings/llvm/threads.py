"""States split between threads, made for the call, as LLVM IR."""

from __future__ import annotations

WORK_PER_THREAD = 2_000_000
"""Instructions × states that are worth a thread (tens of microseconds to start)."""

_WORK = """
%job = type { ptr, ptr, i64, i64, i32 }

define internal ptr @work(ptr %job) {
  %p0 = getelementptr %job, ptr %job, i32 0, i32 0
  %args = load ptr, ptr %p0
  %p1 = getelementptr %job, ptr %job, i32 0, i32 1
  %steps = load ptr, ptr %p1
  %p2 = getelementptr %job, ptr %job, i32 0, i32 2
  %start = load i64, ptr %p2
  %p3 = getelementptr %job, ptr %job, i32 0, i32 3
  %end = load i64, ptr %p3
  call void @range(ptr %args, ptr %steps, i64 %start, i64 %end)
  %p4 = getelementptr %job, ptr %job, i32 0, i32 4
  %flags = call i32 @fetestexcept(i32 63)
  store i32 %flags, ptr %p4
  ret ptr null
}
declare i32 @fetestexcept(i32)
declare i32 @feraiseexcept(i32)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
"""


def threads_ir(length: int, lanes: int) -> str:
    """`@loop` for a tape of `length` instructions: splits the states between threads in whole blocks, the first share for the caller."""
    share = max(lanes, WORK_PER_THREAD // max(1, length))
    return f"""{_WORK}
define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {{
entry:
  %total = load i64, ptr %dimensions
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %done, label %choose
choose:
  %allowed = load i64, ptr %data
  %worth = udiv i64 %total, {share}
  %few = icmp ult i64 %worth, %allowed
  %threads = select i1 %few, i64 %worth, i64 %allowed
  %alone = icmp ult i64 %threads, 2
  br i1 %alone, label %single, label %split
single:
  call void @range(ptr %args, ptr %steps, i64 0, i64 %total)
  ret void
split:
  %t1 = sub i64 %threads, 1
  %padded = add i64 %total, %t1
  %raw.share = udiv i64 %padded, %threads
  %rounded = add i64 %raw.share, {lanes - 1}
  %own = and i64 %rounded, {-lanes}
  %jobs = alloca %job, i64 %threads
  %ids = alloca i64, i64 %threads
  br label %start
start:
  %n = phi i64 [1, %split], [%n1, %started]
  %job = getelementptr %job, ptr %jobs, i64 %n
  %id = getelementptr i64, ptr %ids, i64 %n
  store i64 0, ptr %id
  %from = mul i64 %n, %own
  %to.raw = add i64 %from, %own
  %over = icmp ugt i64 %to.raw, %total
  %to = select i1 %over, i64 %total, i64 %to.raw
  %j0 = getelementptr %job, ptr %job, i32 0, i32 0
  store ptr %args, ptr %j0
  %j1 = getelementptr %job, ptr %job, i32 0, i32 1
  store ptr %steps, ptr %j1
  %j2 = getelementptr %job, ptr %job, i32 0, i32 2
  store i64 %from, ptr %j2
  %j3 = getelementptr %job, ptr %job, i32 0, i32 3
  store i64 %to, ptr %j3
  %nothing = icmp uge i64 %from, %to
  br i1 %nothing, label %started, label %create
create:
  %failed.code = call i32 @pthread_create(ptr %id, ptr null, ptr @work, ptr %job)
  %failed = icmp ne i32 %failed.code, 0
  br i1 %failed, label %myself, label %started
myself:
  store i64 0, ptr %id
  %ignored = call ptr @work(ptr %job)
  br label %started
started:
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, %threads
  br i1 %more, label %start, label %mine
mine:
  call void @range(ptr %args, ptr %steps, i64 0, i64 %own)
  br label %wait
wait:
  %m = phi i64 [1, %mine], [%m1, %waited]
  %mid = getelementptr i64, ptr %ids, i64 %m
  %handle = load i64, ptr %mid
  %none = icmp eq i64 %handle, 0
  br i1 %none, label %waited, label %join
join:
  %code = call i32 @pthread_join(i64 %handle, ptr null)
  %done.job = getelementptr %job, ptr %jobs, i64 %m
  %flag.place = getelementptr %job, ptr %done.job, i32 0, i32 4
  %flags = load i32, ptr %flag.place
  %raised = call i32 @feraiseexcept(i32 %flags)
  br label %waited
waited:
  %m1 = add i64 %m, 1
  %more.waits = icmp ult i64 %m1, %threads
  br i1 %more.waits, label %wait, label %done
done:
  ret void
}}
"""
