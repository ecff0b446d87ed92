//! The parts of the way from text to answer, each by itself, at sizes that show how the cost grows.
#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fp_plan::plan::{format, parse};
use fp_plan::rules::{RuleFacts, check};
use fp_plan::schedule::{ScheduleOptions, schedule};
use pulldown_cmark::Parser;

mod trees;

const SIZES: [usize; 3] = [100, 1_000, 10_000];

fn ways(criterion: &mut Criterion) {
    let shapes = ["plan", "chain", "shared"].into_iter().flat_map(|name| SIZES.map(|leaves| (name, leaves)));
    for (name, leaves) in shapes {
        let Some(shape) = trees::Shape::named(name) else { continue };
        let text = trees::tree(shape, leaves);
        let (plan, parsed) = parse(&text);
        let facts = RuleFacts::default();
        let options = ScheduleOptions { max_parallel_tasks: 4, ..ScheduleOptions::default() };
        let mut group = criterion.benchmark_group(name);
        group.sample_size(if leaves > 1_000 { 10 } else { 50 });
        group.throughput(Throughput::Bytes(text.len() as u64));
        let id = |name| BenchmarkId::new(name, leaves);
        group.bench_function(id("events"), |b| {
            b.iter(|| Parser::new(black_box(&text)).into_offset_iter().count())
        });
        group.bench_function(id("parse"), |b| b.iter(|| parse(black_box(&text))));
        group.bench_function(id("check"), |b| b.iter(|| check(black_box(&plan), &parsed, &facts)));
        group.bench_function(id("schedule"), |b| b.iter(|| schedule(black_box(&plan), &options)));
        group.bench_function(id("format"), |b| b.iter(|| format(black_box(&text))));
        group.finish();
    }
}

criterion_group!(benches, ways);
criterion_main!(benches);
