//! Sets of waves, so that the first wave that is in none of several is found without looking at each wave.

/// Waves in one word.
const BITS: usize = u64::BITS as usize;

/// Waves that are closed for some reason.
#[derive(Debug, Default)]
pub(super) struct Closed {
    /// Bits by number of their word, in order; words without a bit are left out.
    words: Vec<(usize, u64)>,
    /// All waves up to this one are closed, the first being 1: plans often fill them from there.
    full: usize,
}

impl Closed {
    /// Whether no wave is closed.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether `wave` is closed.
    pub(super) fn has(&self, wave: usize) -> bool {
        self.word(wave / BITS) >> (wave % BITS) & 1 == 1
    }

    /// Closes `wave`.
    pub(super) fn add(&mut self, wave: usize) {
        let (number, bit) = (wave / BITS, 1 << (wave % BITS));
        // Waves mostly come in order.
        match self.words.last_mut() {
            Some((last, bits)) if *last == number => *bits |= bit,
            Some((last, _)) if *last > number => {
                match self.words.binary_search_by_key(&number, |&(number, _)| number) {
                    Ok(at) => self.words[at].1 |= bit,
                    Err(at) => self.words.insert(at, (number, bit)),
                }
            }
            _ => self.words.push((number, bit)),
        }
        while self.has(self.full + 1) {
            self.full += 1;
        }
    }

    fn word(&self, number: usize) -> u64 {
        match self.words.last() {
            Some(&(last, bits)) if last == number => bits,
            Some(&(last, _)) if last > number => {
                let found = self.words.binary_search_by_key(&number, |&(number, _)| number);
                found.map_or(0, |at| self.words[at].1)
            }
            _ => 0,
        }
    }
}

/// The first wave from `earliest` on that is closed in none of `sets`.
pub(super) fn first_open(sets: &[&Closed], earliest: usize) -> usize {
    let from = sets.iter().map(|set| set.full + 1).fold(earliest, usize::max);
    let mut taken = (1 << (from % BITS)) - 1;
    let mut number = from / BITS;
    loop {
        taken = sets.iter().fold(taken, |taken, set| taken | set.word(number));
        if taken != u64::MAX {
            return number * BITS + taken.trailing_ones() as usize;
        }
        taken = 0;
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn closed(waves: &[usize]) -> Closed {
        let mut set = Closed::default();
        waves.iter().for_each(|&wave| set.add(wave));
        set
    }

    #[test]
    fn the_first_open_wave() {
        let check = |sets: &[&[usize]], earliest: usize, expect: usize| {
            let sets: Vec<Closed> = sets.iter().map(|waves| closed(waves)).collect();
            assert_eq!(first_open(&sets.iter().collect::<Vec<_>>(), earliest), expect);
        };
        let even: Vec<usize> = (0..300).step_by(2).collect();
        let odd: Vec<usize> = (1..300).step_by(2).collect();
        check(&[], 5, 5);
        check(&[&[5, 6]], 5, 7);
        check(&[&even, &odd], 1, 300);
        check(&[&even], 100, 101);
        check(&[&[63], &[64]], 63, 65);
        check(&[&[1000]], 1, 1);
        check(&[&[1, 2, 3]], 1, 4);
    }

    proptest! {
        #[test]
        fn is_what_looking_at_each_wave_finds(
            sets in prop::collection::vec(prop::collection::vec(1_usize..200, 0..150), 0..4),
            earliest in 1_usize..220,
        ) {
            let found: Vec<Closed> = sets.iter().map(|waves| closed(waves)).collect();
            let expect = (earliest..).find(|wave| sets.iter().all(|set| !set.contains(wave))).unwrap();
            prop_assert_eq!(first_open(&found.iter().collect::<Vec<_>>(), earliest), expect);
        }
    }
}
