//! Made-up credentials of every kind that is known, for tests.

use super::names::names;
use super::passwords::SERVICES;
use super::shapes::{Alphabet, SHAPES};
use super::{PRIVATE_KEY, PRIVATE_KEY_KIND};
use base64::Engine as _;

/// Returns an example of each known shape and name: its kind, a text that contains it, and the value. The examples are generated
/// here, so that no scanner reports them as a leak. Tests of all program output need them.
pub fn examples() -> Vec<(&'static str, String, String)> {
    let random = |place: usize, alphabet: Alphabet| {
        let letters = match alphabet {
            Alphabet::Hex | Alphabet::Guid => "7f3a9c2e1b8d4056",
            Alphabet::Capital => "Q7RZ2MWK9TXB4LNV",
            _ => "q7Rz2mWk9TxB4lNvC8dF",
        };
        let letters: Vec<char> = letters.chars().collect();
        // The values differ: digits of the example number are inserted between the letters.
        let length = letters.len();
        move |at: usize| match at % 3 {
            0 => char::from_digit((place / 8usize.pow((at / 3) as u32 % 4) % 8) as u32, 10).unwrap_or('0'),
            _ => letters[(at + place) % length],
        }
    };
    let shapes = SHAPES.iter().enumerate().map(|(place, shape)| {
        let (least, most) = shape.length;
        let key: String = (0..least.max(32).min(most)).map(random(place, shape.alphabet)).collect();
        let named = format!("{}{key}", shape.prefix);
        (shape.kind, named.clone(), if shape.is_address() { key } else { named })
    });
    let value = |place: usize| (0..16).map(random(place + 1000, Alphabet::Plain)).collect::<String>();
    let names = names().enumerate().map(|(place, (name, kind))| (kind, format!("{name}={}", value(place)), value(place)));
    let line = |place: usize| (0..64).map(random(place + 3000, Alphabet::Plain)).collect::<String>();
    let token = format!("eyJ{}.eyJ{}.{}", &line(301)[..24], &line(302)[..24], &line(303)[..32]);
    let others = [
        ("web-token", token.clone(), token),
        ("password-in-address", format!("postgres://app:{}@db.internal/x", value(100)), value(100)),
        (
            PRIVATE_KEY_KIND,
            format!("{PRIVATE_KEY}RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----", line(304), line(305)),
            line(304),
        ),
    ];
    let services = SERVICES.iter().enumerate().map(|(place, name)| {
        let value = (0..32).map(random(place + 2000, Alphabet::Plain)).collect::<String>();
        ("named-key", format!("{name}_key={value}"), value)
    });
    let digits =
        |place: usize| (0..9).map(|at| char::from_digit((place + at * 3) as u32 % 9 + 1, 10).unwrap_or('1')).collect::<String>();
    let bot = base64::engine::general_purpose::STANDARD_NO_PAD.encode(format!("{}{}", digits(1), digits(4)));
    let contexts = [
        ("telegram-token", format!("{}:AA{}", digits(2), &line(600)[..33])),
        ("discord-token", format!("{bot}.{}.{}", &line(601)[..6], &line(602)[..27])),
    ];
    let contexts = contexts.map(|(kind, token)| (kind, token.clone(), token));
    let azure = format!("a1b{}Q~{}", 8, &line(603)[..32]);
    let user = |value: &str| base64::engine::general_purpose::STANDARD.encode(format!("deploy:{value}"));
    let places = [
        ("azure-signature", format!("sv=2024-01-01&sig={}%3D", &line(604)[..43]), format!("{}%3D", &line(604)[..43])),
        ("azure-secret", azure.clone(), azure),
        ("named-secret", format!("{{\"auth\": \"{}\"}}", user(&value(420))), user(&value(420))),
        ("password", format!("machine git.internal login dev password {}", value(421)), value(421)),
        ("password", format!("curl -s -u deploy:{} https://api.internal/x", value(422)), value(422)),
        ("password", format!("sshpass -p {} ssh dev@host", value(423)), value(423)),
        ("password", format!("mysql -h db -u app -p{} shop", value(424)), value(424)),
        ("password", format!("redis-cli -h cache -a {} ping", value(425)), value(425)),
        ("named-token", format!("deploy --token {} now", value(426)), value(426)),
        ("named-key", format!("X-API-Key: {}", value(427)), value(427)),
        ("password", format!("PGPASSWORD={} psql", value(428)), value(428)),
        ("password", format!("пароль： {}", value(429)), value(429)),
        ("password", format!("password: \"p&{}*?\"", value(430)), format!("p&{}*?", value(430))),
        ("password", format!("le mot de passe est {}", value(431)), value(431)),
    ];
    shapes.chain(names).chain(others).chain(services).chain(contexts).chain(places).collect()
}
