//! Dates as HTTP writes them, and moments as the protocol does.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7>

use alloc::string::String;
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

/// The moment that lies so long after 1970-01-01T00:00:00Z as ISO 8601, to the millisecond, such as
/// `1994-11-06T08:49:37.250Z`. One past the year 9999 is its end.
pub(crate) fn iso8601(unix: Duration) -> String {
    const DAY: u64 = 86_400;
    /// 9999-12-31T23:59:59.999Z
    const LAST: Duration = Duration::from_millis(253_402_300_799_999);
    let unix = unix.min(LAST);
    let (days, second) = (unix.as_secs() / DAY, unix.as_secs() % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let millis = unix.subsec_millis();
    alloc::format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Reads a date as HTTP writes it: how long it is after 1970-01-01T00:00:00Z. `None` for whatever is written in another way, also
/// one of those that RFC 9110 calls obsolete.
pub(crate) fn read_date(text: &[u8]) -> Option<Duration> {
    const YEAR: u64 = 365;
    let number = |place: core::ops::Range<usize>| -> Option<u64> {
        core::str::from_utf8(text.get(place)?).ok()?.parse().ok()
    };
    let (year, day) = (number(12..16)?, number(5..7)?);
    let month = MONTHS.iter().position(|month| text.get(8..11) == Some(month.as_slice()))?;
    let before = |year: u64| year * YEAR + year / 4 - year / 100 + year / 400;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let of_year: u64 = lengths.iter().take(month).sum::<u64>() + day.checked_sub(1)?;
    let days = before(year.checked_sub(1)?).checked_sub(before(1_969))? + of_year;
    let seconds = number(17..19)? * 3_600 + number(20..22)? * 60 + number(23..25)?;
    let moment = Duration::from_secs(days * 86_400 + seconds);
    // It is one if it is written so: no day that its month has not, no other form.
    let mut written = Vec::new();
    write_date(&mut written, moment);
    (written == text).then_some(moment)
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
            let read = read_date(text.as_bytes());
            assert_eq!(read, (!text.is_empty()).then_some(Duration::from_secs(seconds)), "{text}");
        }
    }

    /// TASK-12: the same moments for messages of the protocol, with the part of the second.
    #[test]
    fn moments_are_written_as_iso_8601() {
        for (millis, text) in [
            (784_111_777_250, "1994-11-06T08:49:37.250Z"),
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso8601(Duration::from_millis(millis)), text);
        }
    }

    /// What is written in another way is none, nor are days and hours that there are not.
    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Fri, 30 Feb 2024 00:00:00 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT",
            "Wed, 31 Dec 1969 23:59:59 GMT",
            "Sun, 06 Nov 1994 08:49:37 \u{fffd}",
        ] {
            assert_eq!(read_date(text.as_bytes()), None, "{text}");
        }
    }
}
