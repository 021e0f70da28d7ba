// crash.rs -- the same in Rust: a program that crashes in the way that its argument says.
use std::env;
use std::hint::black_box;
use std::os::raw::{c_int, c_void};

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

extern "C" {
    fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
    fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
    fn malloc(size: usize) -> *mut c_void;
    fn free(piece: *mut c_void);
    fn mmap(at: *mut c_void, size: usize, access: c_int, flags: c_int, fd: c_int, from: i64)
        -> *mut u8;
    fn memfd_create(name: *const u8, flags: u32) -> c_int;
    fn ftruncate(fd: c_int, size: i64) -> c_int;
    fn __stack_chk_fail() -> !;
    fn __memcpy_chk(to: *mut u8, from: *const u8, size: usize, room: usize) -> *mut u8;
}

#[inline(never)]
fn null_write(depth: i32) -> i32 {
    let nowhere = black_box(std::ptr::null_mut::<i32>());
    unsafe { nowhere.write_volatile(depth) };
    black_box(depth) + 1
}

#[inline(never)]
fn wild_jump(depth: i32) -> i32 {
    let wild: fn(i32) -> i32 = unsafe { std::mem::transmute(black_box(0x123456789000usize)) };
    wild(depth) + black_box(depth)
}

#[inline(never)]
fn call_null(depth: i32) -> i32 {
    let mut nobody: [usize; 1] = [0];
    black_box(&mut nobody);
    let call: *const fn(i32) -> i32 = nobody.as_ptr().cast();
    (unsafe { call.read_volatile() })(depth) + black_box(depth)
}

#[inline(never)]
fn overflow(depth: i32) -> i32 {
    if depth == i32::MAX {
        return 0;
    }
    let mut room = [0u8; 400];
    room[(depth & 255) as usize] = depth as u8;
    black_box(&mut room);
    overflow(depth + 1) + i32::from(room[1])
}

#[inline(never)]
fn thread_overflow(depth: i32) -> i32 {
    std::thread::spawn(move || overflow(depth)).join().unwrap_or(1) + black_box(depth)
}

#[inline(never)]
fn call_abort(depth: i32) -> i32 {
    if black_box(depth) > 0 {
        std::process::abort();
    }
    depth
}

#[inline(never)]
fn failed_assert(depth: i32) -> i32 {
    assert_eq!(black_box(depth), -1, "it is not");
    depth
}

#[inline(never)]
fn uncaught(depth: i32) -> i32 {
    let none: Option<i32> = black_box(None);
    none.expect("nobody catches this") + depth
}

#[inline(never)]
fn double_free(depth: i32) -> i32 {
    unsafe {
        let piece = black_box(malloc(4000));
        let other = black_box(malloc(4000));
        free(piece);
        free(black_box(piece));
        free(other);
    }
    black_box(depth)
}

#[inline(never)]
fn divide(depth: i32) -> i32 {
    let result: i32;
    unsafe {
        std::arch::asm!("cdq", "idiv {0:e}", in(reg) black_box(0),
                        inout("eax") depth => result, out("edx") _);
    }
    result + black_box(depth)
}

#[inline(never)]
fn bus(depth: i32) -> i32 {
    unsafe {
        let fd = memfd_create(b"file\0".as_ptr(), 0);
        ftruncate(fd, 8192);
        let bytes = mmap(std::ptr::null_mut(), 8192, 3, 1, fd, 0);
        ftruncate(fd, 0);
        bytes.add(4096).write_volatile(depth as u8);
    }
    black_box(depth)
}

#[inline(never)]
fn smash(depth: i32) -> i32 {
    if black_box(depth) > 0 {
        unsafe { __stack_chk_fail() };
    }
    depth
}

#[inline(never)]
fn fortify(depth: i32) -> i32 {
    let mut room = [0u8; 16];
    let from = [0u8; 64];
    unsafe { __memcpy_chk(room.as_mut_ptr(), black_box(from.as_ptr()), black_box(64), 16) };
    i32::from(black_box(room)[1]) + depth
}

#[inline(never)]
fn inner(name: &str, depth: i32) -> i32 {
    let crash: fn(i32) -> i32 = match name {
        "null-write" => null_write,
        "wild-jump" => wild_jump,
        "call-null" => call_null,
        "overflow" => overflow,
        "thread-overflow" => thread_overflow,
        "abort" => call_abort,
        "assert" => failed_assert,
        "uncaught" => uncaught,
        "double-free" => double_free,
        "divide" => divide,
        "bus" => bus,
        "smash" => smash,
        "fortify" => fortify,
        _ => return 100,
    };
    black_box(crash)(depth + 1) + black_box(1)
}

#[inline(never)]
fn outer(name: &str, depth: i32) -> i32 {
    inner(name, depth + 1) + black_box(1)
}

fn main() {
    let mut limit = Limit { soft: 0, hard: 0 };
    unsafe {
        getrlimit(4, &mut limit);
        limit.soft = limit.hard;
        setrlimit(4, &limit);
    }
    let name = env::args().nth(1).unwrap_or_default();
    std::process::exit(outer(&name, 0) + black_box(0));
}
