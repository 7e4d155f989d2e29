//! No answer makes a request to a host where none belongs.

use super::*;
use crate::entropy::Entropy;

/// What a hostile server may try to have us ask.
const TEMPTING: [&str; 20] = [
    "https://as.example",
    "https://h.example",
    "https://evil.example/x",
    "https://as.example.evil.example",
    "https://as.example@evil.example/",
    "http://as.example/t",
    "https://127.0.0.1/x",
    "http://localhost:9/x",
    "https://[::1]/x",
    "https://10.0.0.1/x",
    "https://192.168.1.1",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::ffff:169.254.169.254]/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://127.1/",
    "file:///etc/passwd",
    "gopher://h.example/",
    "//evil.example/x",
    "https://h.example/../../x?y#z",
];

/// SEC-01 to SEC-04, SEC-09, AUTH-42: whatever is answered, in whatever order.
#[test]
fn no_sequence_of_answers_makes_a_request_to_a_host_outside_the_allowed_set() {
    let mut asked = 0;
    for number in 0..800_u32 {
        let mut chance = Chance::new(number);
        let listed = number % 2 == 0;
        let mut config = config().allow_http(false);
        if listed {
            config = config.only_hosts(["as.example"]);
        }
        let challenge = Refusal { resource_metadata: Some(chance.url().into()), ..Refusal::new() };
        let mut step = match Arc::new(config).authorize(now(), seed(), SERVER, challenge, None) {
            Ok(step) => step,
            Err(error) => panic!("{error}"),
        };
        for _ in 0..100 {
            step = match step {
                Step::Fetch(request, waiting) => {
                    check(&request.url, listed);
                    assert_eq!(request.head.headers.text("host"), Some(request.url.authority().as_str()));
                    asked += 1;
                    let mut head = ResponseHead::new(chance.one([200, 200, 200, 201, 302, 307, 404, 400]));
                    head.headers.push("Location", chance.url());
                    let body = chance.document();
                    match waiting.on_response(now(), Response { head: &head, body: body.as_bytes() }) {
                        Ok(step) => step,
                        Err(_) => break,
                    }
                }
                Step::Visit(url, waiting) => {
                    check(&url, listed);
                    let query: BTreeMap<String, String> =
                        form::decode(url.query().unwrap()).unwrap().into_iter().collect();
                    let back = format!("{CALLBACK}?code=c&state={}", query["state"]);
                    match waiting.on_redirect(now(), &back) {
                        Ok(step) => step,
                        Err(_) => break,
                    }
                }
                Step::Done(_) => break,
            };
        }
    }
    assert!(asked > 1_500, "{asked}");
}

fn check(url: &Url, listed: bool) {
    assert!(url.is_https(), "{url:?}");
    assert_eq!(url.network(), Network::Public, "{url:?}");
    assert!(!listed || ["h.example", "as.example"].contains(&url.host()), "{url:?}");
}

struct Chance(Entropy);

impl Chance {
    fn new(number: u32) -> Self {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        Self(Entropy::new(Seed::new(seed)))
    }

    fn one<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[usize::from(self.0.next()[0]) % N]
    }

    fn url(&mut self) -> &'static str {
        self.one(TEMPTING)
    }

    /// Everything that any step reads, mostly as it should be.
    fn document(&mut self) -> String {
        let resource = self.one([SERVER, SERVER, SERVER, "https://evil.example/api/mcp"]);
        let issuer = self.one([ISSUER, ISSUER, "https://h.example", "https://evil.example/x"]);
        let mut server = self.url();
        if self.one([true, false]) {
            server = issuer;
        }
        let endpoint = |chance: &mut Self| match chance.one([0, 1, 2]) {
            0 => chance.url(),
            _ => "https://as.example/endpoint",
        };
        serde_json::json!({
            "resource": resource,
            "authorization_servers": [server, self.url(), issuer],
            "issuer": issuer,
            "authorization_endpoint": endpoint(self),
            "token_endpoint": endpoint(self),
            "registration_endpoint": endpoint(self),
            "code_challenge_methods_supported": ["S256"],
            "client_id": "c",
            "access_token": "t",
            "token_type": "Bearer",
            "client_uri": self.url(),
        })
        .to_string()
    }
}
