//! Random scripts: whatever is proven quick uses no more than the proof says.

use gslb_script::fuzzing::proof;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_is_proven_quick_uses_no_more_than_that(octets in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = proof(&octets);
    }
}

/// The generator is of use only if much of what it makes is proven, much is not, and much of it runs to its end.
#[test]
fn random_scripts_are_of_every_kind() {
    let (mut proven, mut ended, mut refused) = (0, 0, 0);
    let mut random = 1_u64;
    for length in (0..60).cycle().take(600) {
        let octets: Vec<u8> = (0..length)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                random.to_be_bytes()[0]
            })
            .collect();
        match proof(&octets) {
            Some(run) => {
                proven += 1;
                ended += usize::from(run.ended > 0);
            }
            None => refused += 1,
        }
    }
    println!("{proven} proven, {ended} of them ran to the end, {refused} refused");
    assert!(
        proven > 40 && ended > 20 && refused > 40,
        "{proven} {ended} {refused}"
    );
}
