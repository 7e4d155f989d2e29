//! Dates as HTTP writes them.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>

use alloc::vec::Vec;

use crate::time::Duration;

const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Appends the moment that lies so long after 1970-01-01T00:00:00Z, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
/// Nothing for one past the year 9999, which cannot be written so.
pub(crate) fn write_date(out: &mut Vec<u8>, unix: Duration) {
    const DAY: u64 = 86_400;
    let (days, second) = (unix.as_secs() / DAY, unix.as_secs() % DAY);
    let (year, month, day) = civil(days);
    let weekday = usize::try_from(days % 7).ok().and_then(|place| DAYS.get(place));
    let name = usize::try_from(month - 1).ok().and_then(|place| MONTHS.get(place));
    let (Some(weekday), Some(name), ..=9_999) = (weekday, name, year) else { return };
    out.extend_from_slice(*weekday);
    out.extend_from_slice(b", ");
    digits(out, day, 2);
    out.push(b' ');
    out.extend_from_slice(*name);
    out.push(b' ');
    digits(out, year, 4);
    for (between, number) in [(b' ', second / 3_600), (b':', second / 60 % 60), (b':', second % 60)] {
        out.push(between);
        digits(out, number, 2);
    }
    out.extend_from_slice(b" GMT");
}

/// Year, month and day of the day with this number since 1970-01-01. Years are counted from March, so that the
/// day that may be missing is the last one.
fn civil(days: u64) -> (u64, u64, u64) {
    // Days of 400 years, and from 0000-03-01 to 1970-01-01.
    const ERA: u64 = 146_097;
    const BEFORE: u64 = 719_468;
    let days = days + BEFORE;
    let (era, of_era) = (days / ERA, days % ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March on always have 153 days.
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

fn digits(out: &mut Vec<u8>, number: u64, width: u32) {
    for place in (0..width).rev() {
        // A remainder by ten fits a byte.
        out.push(b'0' + (number / 10_u64.pow(place) % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn date(seconds: u64) -> String {
        let mut out = Vec::new();
        write_date(&mut out, Duration::from_secs(seconds));
        String::from_utf8(out).unwrap()
    }

    /// The example of RFC 9110, the ends of months and years, leap days and their absence.
    #[test]
    fn moments_are_written_as_http_dates() {
        for (seconds, text) in [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (253_402_300_800, ""),
            (u64::MAX, ""),
        ] {
            assert_eq!(date(seconds), text);
        }
    }
}
