/* service.rs -- a program that takes much of the standard library with it: collections,
 * threads, channels, formatting, files, generics and closures. */
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::{BufRead, Read, Write};
use std::sync::{mpsc, Arc, Mutex};

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Token {
    Number(i64),
    Word(String),
    Mark(char),
}

struct Order {
    id: u64,
    lines: Vec<(String, u32)>,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order {}:", self.id)?;
        for (name, count) in &self.lines {
            write!(f, " {count:>3} x {name:<12}")?;
        }
        Ok(())
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, std::num::ParseIntError> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let first = word.chars().next().unwrap_or(' ');
        found.push(if first.is_ascii_digit() {
            Token::Number(word.parse()?)
        } else if word.len() == 1 {
            Token::Mark(first)
        } else {
            Token::Word(word.to_lowercase())
        });
    }
    Ok(found)
}

trait Score {
    fn score(&self) -> f64;
}

impl Score for Token {
    fn score(&self) -> f64 {
        match self {
            Token::Number(n) => (*n as f64).sqrt().abs(),
            Token::Word(w) => w.bytes().map(f64::from).sum::<f64>() / w.len() as f64,
            Token::Mark(c) => f64::from(u32::from(*c)),
        }
    }
}

fn best<T: Score + Clone>(all: &[T], count: usize) -> Vec<T> {
    let mut sorted: Vec<&T> = all.iter().collect();
    sorted.sort_by(|a, b| b.score().partial_cmp(&a.score()).unwrap());
    sorted.into_iter().take(count).cloned().collect()
}

fn counts(all: &[Token]) -> BTreeMap<Token, usize> {
    let mut seen: HashMap<&Token, usize> = HashMap::new();
    for token in all {
        *seen.entry(token).or_default() += 1;
    }
    seen.into_iter().map(|(token, n)| (token.clone(), n)).collect()
}

fn reachable(edges: &[(u32, u32, u32)], from: u32) -> BTreeMap<u32, u32> {
    let mut near: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
    for &(a, b, cost) in edges {
        near.entry(a).or_default().push((b, cost));
    }
    let mut done = BTreeMap::new();
    let mut heap = BinaryHeap::from([(std::cmp::Reverse(0), from)]);
    while let Some((std::cmp::Reverse(cost), at)) = heap.pop() {
        if done.contains_key(&at) {
            continue;
        }
        done.insert(at, cost);
        for &(next, more) in near.get(&at).into_iter().flatten() {
            heap.push((std::cmp::Reverse(cost + more), next));
        }
    }
    done
}

fn take(queue: &Mutex<VecDeque<String>>) -> Option<String> {
    queue.lock().unwrap().pop_front()
}

fn spread(jobs: Vec<String>) -> Vec<String> {
    let queue = Arc::new(Mutex::new(VecDeque::from(jobs)));
    let (send, receive) = mpsc::channel();
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let (queue, send) = (Arc::clone(&queue), send.clone());
            std::thread::spawn(move || while let Some(job) = take(&queue) {
                send.send(format!("{number}: {}", job.chars().rev().collect::<String>())).unwrap();
            })
        })
        .collect();
    drop(send);
    let answers: HashSet<String> = receive.iter().collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    answers.into_iter().collect()
}

fn read_lines(path: &str) -> std::io::Result<Vec<String>> {
    let mut text = String::new();
    std::fs::File::open(path)?.read_to_string(&mut text)?;
    Ok(std::io::Cursor::new(text).lines().map_while(Result::ok).collect())
}

fn main() {
    let lines = read_lines(&std::env::args().nth(1).unwrap_or_default()).unwrap_or_else(|_| {
        vec!["one 2 three , 4 Five".into(), "2 2 three".into()]
    });
    let all: Vec<Token> = lines.iter().flat_map(|l| tokens(l).unwrap_or_default()).collect();
    println!("{:?} {:#?}", best(&all, 2), counts(&all));
    println!("{:?}", reachable(&[(0, 1, 4), (0, 2, 1), (2, 1, 2), (1, 3, 5)], 0));
    let order = Order { id: 7, lines: vec![("bolt".into(), 3), ("nut".into(), 12)] };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{order} {:?}", spread(lines)).unwrap();
}
