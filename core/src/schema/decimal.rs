//! Numbers as decimals, exact up to 38 digits: what a double rounds would pass a bound that it breaks, and 0.3 would
//! be no multiple of 0.1.

use core::cmp::Ordering;
use core::fmt;

/// The digits that are kept; whatever follows is cut off.
const DIGITS: usize = 38;

/// `digits` × 10^`exponent`; zero has no other form than 0 × 10^0, and no other number has a last digit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i64,
}

impl Decimal {
    const ZERO: Self = Self { negative: false, digits: 0, exponent: 0 };

    /// Reads a JSON number. An exponent that is no 64-bit number is read as the nearest that is.
    pub(super) fn read(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let mut number = Self { negative, ..Self::ZERO };
        let (mut kept, mut fraction) = (0, false);
        for byte in mantissa.bytes() {
            match byte {
                b'.' => fraction = true,
                digit if kept < DIGITS => {
                    number.digits = number.digits * 10 + u128::from(digit.wrapping_sub(b'0') % 10);
                    number.exponent -= i64::from(fraction);
                    kept += usize::from(number.digits > 0);
                }
                _ => number.exponent += i64::from(!fraction),
            }
        }
        if number.digits == 0 {
            return Self::ZERO;
        }
        while number.digits.is_multiple_of(10) {
            number.digits /= 10;
            number.exponent += 1;
        }
        let limit = if power.starts_with('-') { i64::MIN } else { i64::MAX };
        number.exponent = number.exponent.saturating_add(power.parse().unwrap_or(limit));
        number
    }

    pub(super) fn is_integer(self) -> bool {
        self.exponent >= 0
    }

    pub(super) fn is_positive(self) -> bool {
        !self.negative && self.digits > 0
    }

    /// As a count: a whole number that is not negative. One past 64 bits counts as the largest.
    pub(super) fn count(self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let power = u32::try_from(self.exponent).ok().and_then(|exponent| 10u128.checked_pow(exponent));
        let count = power.and_then(|power| self.digits.checked_mul(power));
        Some(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX))
    }

    /// Whether it is a whole number of times `unit`, which is positive.
    pub(super) fn is_multiple_of(self, unit: Self) -> bool {
        /// Powers of ten beyond this are not looked at: no number that anybody means has such.
        const POWERS: i64 = 4_096;
        /// Ten times a remainder must fit.
        const UNIT: u128 = u128::MAX / 10;
        if self.digits == 0 {
            return true;
        }
        // A unit that ends in zeros further left than this number does: its last digit is not 0.
        let Some(powers) = self.exponent.checked_sub(unit.exponent) else { return false };
        if !(0..=POWERS).contains(&powers) || unit.digits == 0 || unit.digits > UNIT {
            return false;
        }
        let rest = (0..powers).try_fold(self.digits % unit.digits, |rest, _| match rest {
            0 => None,
            rest => Some(rest * 10 % unit.digits),
        });
        rest.is_none_or(|rest| rest == 0)
    }

    /// Where its first digit stands, counted from the point.
    fn magnitude(self) -> i64 {
        self.exponent.saturating_add(i64::from(self.digits.checked_ilog10().unwrap_or(0)))
    }

    /// Its digits, shifted to `DIGITS` places.
    fn aligned(self) -> u128 {
        let places = self.digits.checked_ilog10().map_or(1, |log| log + 1);
        self.digits * 10u128.pow(DIGITS as u32 - places.min(DIGITS as u32))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits, number.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let size = |number: &Self| (number.magnitude(), number.aligned());
        match (sign(self), sign(other)) {
            (1, 1) => size(self).cmp(&size(other)),
            (-1, -1) => size(other).cmp(&size(self)),
            (one, other) => one.cmp(&other),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        match usize::try_from(self.exponent) {
            Ok(zeros @ 0..=DIGITS) => write!(f, "{}{:0<zeros$}", self.digits, ""),
            _ => match self.exponent {
                -38..0 => {
                    let places = self.exponent.unsigned_abs() as u32;
                    let unit = 10u128.pow(places);
                    let places = places as usize;
                    write!(f, "{}.{:0places$}", self.digits / unit, self.digits % unit)
                }
                exponent => write!(f, "{}e{exponent}", self.digits),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text)
    }

    #[test]
    fn notations_of_one_number_are_equal() {
        for text in ["1", "1.0", "1e0", "10e-1", "0.1E1", "1.000"] {
            assert_eq!(read(text), read("1"), "{text}");
        }
        for text in ["0", "-0", "0.00", "0e99999999999999999999", "-0.0e-5"] {
            assert_eq!(read(text), Decimal::ZERO, "{text}");
        }
    }

    #[test]
    fn order_is_exact() {
        let rising = [
            "-1e400",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-1",
            "-0.1",
            "0",
            "1e-400",
            "0.1",
            "1",
            "1.0000000000000000000000000000000000001",
            "1.5",
            "9",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1e99999999999999999999",
        ];
        for (index, one) in rising.iter().enumerate() {
            for (other_index, other) in rising.iter().enumerate() {
                assert_eq!(read(one).cmp(&read(other)), index.cmp(&other_index), "{one} {other}");
            }
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (number, unit) in [
            ("0.3", "0.1"),
            ("19.99", "0.01"),
            ("1e308", "0.5"),
            ("0", "7"),
            ("-9", "3"),
            ("0.0075", "0.0001"),
            ("1e50", "1e3"),
            ("12391239123", "1e0"),
            ("300", "1e2"),
        ] {
            assert!(read(number).is_multiple_of(read(unit)), "{number} {unit}");
        }
        for (number, unit) in
            [("0.35", "0.1"), ("7", "2"), ("1", "1e400"), ("1e-400", "1"), ("30", "1e2"), ("1e4000", "7")]
        {
            assert!(!read(number).is_multiple_of(read(unit)), "{number} {unit}");
        }
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        assert_eq!(read("2.0").count(), Some(2));
        assert_eq!(read("3e2").count(), Some(300));
        assert_eq!(read("1e30").count(), Some(u64::MAX));
        assert_eq!(read("-1").count(), None);
        assert_eq!(read("1.5").count(), None);
    }

    #[test]
    fn numbers_print_plainly() {
        for text in ["0", "-1", "120", "0.5", "-12.05", "1e400", "5e-400"] {
            assert_eq!(read(text).to_string(), text);
        }
    }
}
