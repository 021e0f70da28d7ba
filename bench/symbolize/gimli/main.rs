/* main.rs -- the addresses of standard input, answered by gimli's addr2line: whole chains
 * with columns, not demangled, one line an address.
 *
 *     bench-gimli FILE            answers
 *     bench-gimli FILE --warm     times, in ns of CPU: a second pass, and 100 addresses over
 *                                 and over
 *
 * The sections are mapped and read in place, as the fastest of its users do.
 */
use addr2line::Context;
use gimli::{EndianSlice, LittleEndian};
use object::{Object, ObjectSection};
use std::io::{BufRead, Write};

type Slice = EndianSlice<'static, LittleEndian>;

const HOT: usize = 100;
const HOT_ROUNDS: usize = 1000;

fn open(path: &str) -> Context<Slice> {
    let file = std::fs::File::open(path).expect("cannot open it");
    let map = unsafe { memmap2::Mmap::map(&file) }.expect("cannot map it");
    let bytes: &'static [u8] = Box::leak(Box::new(map));
    let object = object::File::parse(bytes).expect("no object file");
    let section = |id: gimli::SectionId| -> Result<Slice, gimli::Error> {
        let found = object.section_by_name(id.name());
        let data = found.and_then(|s| s.data().ok()).unwrap_or(&[]);
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section).expect("no DWARF");
    Context::from_dwarf(dwarf).expect("bad DWARF")
}

/* Calls `each` with name, file, line and column of every frame, innermost first. */
fn look<F: FnMut(&[u8], &str, u32, u32)>(context: &Context<Slice>, address: u64, mut each: F) {
    if let Ok(mut frames) = context.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().map_or(&b""[..], |f| f.name.slice());
            let (file, line, column) = frame.location.map_or(("", 0, 0), |l| {
                (l.file.unwrap_or(""), l.line.unwrap_or(0), l.column.unwrap_or(0))
            });
            each(name, file, line, column);
        }
    }
}

fn cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn pass(context: &Context<Slice>, addresses: &[u64]) -> u64 {
    let mut sum = 0;
    for &address in addresses {
        look(context, address, |name, file, line, column| {
            sum += name.len() as u64 + file.len() as u64 + u64::from(line + column);
        });
    }
    sum
}

fn warm(context: &Context<Slice>, addresses: &[u64]) {
    let mut sum = pass(context, addresses);
    let start = cpu_ns();
    sum += pass(context, addresses);
    let random = (cpu_ns() - start) as f64 / addresses.len() as f64;
    let hot = &addresses[..HOT.min(addresses.len())];
    let start = cpu_ns();
    for _ in 0..HOT_ROUNDS {
        sum += pass(context, hot);
    }
    let each = (cpu_ns() - start) as f64 / (HOT_ROUNDS * hot.len()) as f64;
    println!("random_ns\t{random:.1}\nhot_ns\t{each:.1}\nchecksum\t{sum}");
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let context = open(arguments.get(1).expect("usage: bench-gimli FILE [--warm]"));
    let addresses: Vec<u64> = std::io::stdin()
        .lock()
        .lines()
        .filter_map(|l| u64::from_str_radix(l.ok()?.trim().trim_start_matches("0x"), 16).ok())
        .collect();
    if arguments.len() > 2 {
        return warm(&context, &addresses);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for &address in &addresses {
        write!(out, "{address:#x}").unwrap();
        look(&context, address, |name, file, line, column| {
            write!(out, "|{}@{file}:{line}:{column}", String::from_utf8_lossy(name)).unwrap();
        });
        writeln!(out).unwrap();
    }
}
