//! Tables of credentials: the shapes of service keys, and the names in front of values.

use std::sync::LazyLock;

/// The shape of a service key: its prefix and the following bytes.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    pub(super) alphabet: Alphabet,
    /// Minimum and maximum number of bytes after the prefix.
    pub(super) length: (usize, usize),
}

impl Shape {
    /// Returns true if the prefix is the start of a URL: it is public, unlike the path that follows.
    pub(super) fn is_address(&self) -> bool {
        self.prefix.contains(".com/")
    }
}

/// The bytes of a key.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `-` and `_`.
    Url,
    /// The same and `.`.
    Dotted,
    /// The same, `/`, `+` and `=`.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// The same and `-`.
    Guid,
    Capital,
    /// The characters of a URL after its host.
    Address,
    Digit,
    /// Letters, digits, `-`, `_`, `.` and `~`.
    Tilde,
    /// Letters, digits and the symbols of generated passwords.
    Symbols,
}

impl Alphabet {
    /// Returns true if a key of this alphabet can contain a byte.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Plain => byte.is_ascii_alphanumeric(),
            Alphabet::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Alphabet::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'+' | b'='),
            Alphabet::Hex => byte.is_ascii_hexdigit(),
            Alphabet::Guid => byte.is_ascii_hexdigit() || byte == b'-',
            Alphabet::Address => byte.is_ascii_alphanumeric() || b"-_./@%".contains(&byte),
            Alphabet::Tilde => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'),
            Alphabet::Symbols => byte.is_ascii_alphanumeric() || b"!@#$%^&*(-_=+)".contains(&byte),
            Alphabet::Digit => byte.is_ascii_digit(),
            Alphabet::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// Maximum length of a key, in bytes.
pub(super) const LONGEST: usize = 2048;

/// The known shapes, from the documentation of the services: the kind, the prefixes, the following bytes and their number.
const FORMS: &[(&str, &str, Alphabet, usize, usize)] = &[
    ("adafruit-key", "aio_", Alphabet::Plain, 28, 28),
    ("adobe-secret", "p8e-", Alphabet::Plain, 32, 32),
    ("age-key", "AGE-SECRET-KEY-1", Alphabet::Capital, 58, 58),
    ("aikido-secret", "AIK_SECRET_", Alphabet::Plain, 40, 80),
    ("airtable-token", "pat", Alphabet::Dotted, 79, 79),
    ("alibaba-key", "LTAI", Alphabet::Plain, 20, 20),
    ("amazon-secret", "amzn1.oa2-cs.v1.", Alphabet::Hex, 64, 64),
    ("amazon-token", "amzn.mws.", Alphabet::Url, 36, 36),
    ("anthropic-key", "sk-ant-", Alphabet::Url, 16, LONGEST),
    ("anyscale-key", "esecret_", Alphabet::Plain, 20, 64),
    ("apify-token", "apify_api_", Alphabet::Plain, 36, 36),
    ("artifactory-key", "AKCp", Alphabet::Plain, 69, 69),
    ("artifactory-token", "cmVmd", Alphabet::Plain, 59, 59),
    ("atlassian-token", "ATATT3", Alphabet::Base64, 60, 255),
    ("aws-key", "AKIA ASIA ABIA ACCA", Alphabet::Capital, 16, 16),
    ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz", Alphabet::Base64, 100, LONGEST),
    ("axiom-token", "xaat- xapt-", Alphabet::Url, 36, 36),
    ("bedrock-key", "ABSK", Alphabet::Base64, 100, 400),
    ("bedrock-key", "bedrock-api-key-", Alphabet::Base64, 60, LONGEST),
    ("bitbucket-token", "ATBB", Alphabet::Plain, 32, 32),
    ("bitbucket-token", "ATCTT3", Alphabet::Base64, 60, 255),
    ("brave-key", "BSA", Alphabet::Url, 28, 28),
    ("brevo-key", "xkeysib-", Alphabet::Url, 81, 81),
    ("brevo-key", "xsmtpsib-", Alphabet::Url, 64, 81),
    ("browserbase-key", "bb_live_", Alphabet::Url, 20, 64),
    ("buildkite-token", "bkct_", Alphabet::Plain, 40, 80),
    ("buildkite-token", "bkua_", Alphabet::Plain, 40, 40),
    ("cal-key", "cal_live_", Alphabet::Hex, 32, 32),
    ("cartesia-key", "sk_car_", Alphabet::Plain, 20, 40),
    ("cerebras-key", "csk-", Alphabet::Plain, 40, 64),
    ("checkly-key", "cu_", Alphabet::Hex, 32, 32),
    ("circleci-token", "CCIPAT_ CCIPRJ_", Alphabet::Url, 40, 80),
    ("clickhouse-key", "4b1d", Alphabet::Plain, 38, 38),
    ("clojars-token", "CLOJARS_", Alphabet::Plain, 60, 60),
    ("cloudflare-key", "v1.0-", Alphabet::Url, 171, 171),
    ("cockroach-key", "CCDB1_", Alphabet::Url, 50, 80),
    ("contentful-token", "CFPAT-", Alphabet::Url, 43, 43),
    ("coze-token", "pat_", Alphabet::Plain, 64, 64),
    ("crates-token", "cio", Alphabet::Plain, 32, 32),
    ("cursor-key", "key_ crsr_", Alphabet::Hex, 64, 128),
    ("databricks-token", "dapi", Alphabet::Hex, 32, 32),
    ("dbt-token", "dbtc_ dbtu_", Alphabet::Url, 30, 80),
    ("defined-networking-token", "dnkey-", Alphabet::Url, 79, 79),
    ("deno-token", "ddp_ ddw_", Alphabet::Plain, 36, 36),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", Alphabet::Hex, 64, 64),
    ("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", Alphabet::Base64, 60, 128),
    ("django-secret", "django-insecure-", Alphabet::Symbols, 32, 80),
    ("docker-token", "dckr_pat_ dckr_oat_", Alphabet::Url, 27, 64),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", Alphabet::Dotted, 40, 128),
    ("dropbox-token", "sl. sl.u.", Alphabet::Url, 100, LONGEST),
    ("dub-key", "dub_", Alphabet::Plain, 24, 24),
    ("duffel-token", "duffel_test_ duffel_live_", Alphabet::Url, 43, 44),
    ("dynatrace-token", "dt0c01.", Alphabet::Dotted, 89, 89),
    ("dynatrace-token", "dt0s01. dt0s16.", Alphabet::Dotted, 70, 100),
    ("e2b-key", "e2b_", Alphabet::Hex, 40, 40),
    ("easypost-key", "EZAK EZTK", Alphabet::Plain, 54, 54),
    ("elastic-key", "essu_", Alphabet::Base64, 40, 160),
    ("elevenlabs-key", "sk_", Alphabet::Hex, 48, 64),
    (
        "encoded-private-key",
        "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0EgUFJJVkFUR LS0tLS1CRUdJTiBFQyBQUklWQVRF LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg",
        Alphabet::Base64,
        60,
        16 << 10,
    ),
    ("facebook-token", "EAAM EAAC EAAG EAAB", Alphabet::Plain, 100, 400),
    ("fauna-secret", "fnAE fnAF", Alphabet::Url, 36, 40),
    ("figma-token", "figd_ figu_ figo_", Alphabet::Url, 36, 64),
    ("firecrawl-key", "fc-", Alphabet::Hex, 32, 32),
    ("fireworks-key", "fw_", Alphabet::Plain, 20, 64),
    ("flutterwave-key", "FLWSECK_TEST-", Alphabet::Url, 12, 40),
    ("flutterwave-key", "FLWSECK-", Alphabet::Url, 32, 40),
    ("fly-token", "fo1_", Alphabet::Url, 43, 43),
    ("fly-token", "fm1a_ fm1r_ fm2_", Alphabet::Base64, 100, LONGEST),
    ("frameio-token", "fio-u-", Alphabet::Url, 64, 64),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", Alphabet::Plain, 30, 255),
    ("github-token", "github_pat_", Alphabet::Url, 22, 255),
    ("gitlab-token", "glpat- glrt-", Alphabet::Dotted, 20, 255),
    ("gitlab-token", "glptt- gldt- glcbt- glffct- glft- glimt- glsoat- GR1348941", Alphabet::Url, 20, 255),
    ("gitlab-token", "glagent- gloas-", Alphabet::Url, 40, 255),
    ("gitlab-token", "_gitlab_session=", Alphabet::Url, 32, 255),
    ("google-key", "AIza", Alphabet::Url, 35, 35),
    ("google-key", "AQ.", Alphabet::Url, 40, 80),
    ("google-secret", "GOCSPX-", Alphabet::Url, 28, 28),
    ("google-token", "ya29.", Alphabet::Dotted, 30, LONGEST),
    ("google-token", "1//0", Alphabet::Url, 40, 255),
    ("grafana-key", "eyJrIjoi", Alphabet::Base64, 70, 400),
    ("grafana-token", "glsa_", Alphabet::Url, 36, 64),
    ("grafana-token", "glc_", Alphabet::Base64, 32, 400),
    ("groq-key", "gsk_", Alphabet::Plain, 40, 128),
    ("harness-token", "pat. sat.", Alphabet::Dotted, 68, 68),
    ("helicone-key", "sk-helicone-", Alphabet::Url, 24, 80),
    ("heroku-key", "HRKU-AA", Alphabet::Url, 58, 58),
    ("honeycomb-key", "hcaik_", Alphabet::Plain, 40, 80),
    ("honeycomb-key", "hcxik_ hcaic_", Alphabet::Plain, 40, 80),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", Alphabet::Url, 36, 36),
    ("huggingface-token", "hf_", Alphabet::Plain, 30, 64),
    ("huggingface-token", "api_org_", Alphabet::Plain, 34, 34),
    ("infisical-token", "st.", Alphabet::Dotted, 70, 100),
    ("infracost-key", "ico-", Alphabet::Plain, 32, 32),
    ("inngest-key", "signkey-prod-", Alphabet::Hex, 32, 80),
    ("intercom-token", "dG9rO", Alphabet::Base64, 40, 80),
    ("intra42-secret", "s-s4t2ud- s-s4t2af-", Alphabet::Hex, 64, 64),
    ("jina-key", "jina_", Alphabet::Url, 40, 80),
    ("langfuse-key", "sk-lf-", Alphabet::Url, 36, 36),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", Alphabet::Url, 40, 64),
    ("langsmith-key", "ls__", Alphabet::Hex, 32, 64),
    ("launchdarkly-key", "sdk- mob- api-", Alphabet::Guid, 36, 36),
    ("letta-key", "sk-let-", Alphabet::Base64, 40, 128),
    ("linear-key", "lin_api_ lin_oauth_", Alphabet::Plain, 32, 64),
    ("litellm-key", "sk-litellm-", Alphabet::Url, 16, 80),
    ("llamacloud-key", "llx-", Alphabet::Plain, 40, 64),
    ("mailersend-token", "mlsn.", Alphabet::Hex, 64, 64),
    ("mailgun-key", "key-", Alphabet::Hex, 32, 32),
    ("mandrill-key", "md-", Alphabet::Plain, 22, 22),
    ("mapbox-token", "sk.eyJ tk.eyJ", Alphabet::Dotted, 60, 255),
    ("mem0-key", "m0-", Alphabet::Plain, 36, 48),
    ("modal-token", "ak- as-", Alphabet::Plain, 22, 22),
    ("mongodb-secret", "mdb_sa_sk_", Alphabet::Url, 40, 64),
    ("neon-key", "napi_", Alphabet::Plain, 40, 80),
    ("neon-password", "npg_", Alphabet::Plain, 12, 32),
    ("netbird-token", "nbp_", Alphabet::Plain, 36, 36),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", Alphabet::Plain, 36, 64),
    ("newrelic-key", "NRAK-", Alphabet::Capital, 27, 27),
    ("newrelic-key", "NRJS-", Alphabet::Hex, 19, 19),
    ("newrelic-key", "NRII-", Alphabet::Url, 32, 32),
    ("notion-token", "ntn_", Alphabet::Plain, 40, 64),
    ("notion-token", "secret_", Alphabet::Plain, 43, 43),
    ("npm-token", "npm_", Alphabet::Plain, 30, 64),
    ("nuget-key", "oy2", Alphabet::Plain, 43, 43),
    ("nvidia-key", "nvapi-", Alphabet::Url, 50, 128),
    ("nylas-key", "nyk_v0_", Alphabet::Plain, 40, 128),
    ("octopus-key", "API-", Alphabet::Capital, 26, 26),
    ("onepassword-token", "ops_eyJ", Alphabet::Base64, 200, LONGEST),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", Alphabet::Url, 16, LONGEST),
    ("openai-key", "sk-", Alphabet::Plain, 32, 64),
    ("openai-key", "sk-None-", Alphabet::Url, 32, 200),
    ("openpipe-key", "opk_ opk-", Alphabet::Url, 30, 64),
    ("openrouter-key", "sk-or-v1-", Alphabet::Hex, 32, 64),
    ("openshift-token", "sha256~", Alphabet::Url, 43, 43),
    ("packagist-token", "packagist_out_", Alphabet::Hex, 40, 80),
    ("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_", Alphabet::Url, 40, 80),
    ("perplexity-key", "pplx-", Alphabet::Plain, 40, 128),
    ("pinecone-key", "pcsk_", Alphabet::Url, 40, 128),
    ("plaid-token", "access-sandbox- access-development- access-production-", Alphabet::Url, 36, 36),
    ("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", Alphabet::Dotted, 32, 128),
    ("polar-token", "polar_oat_", Alphabet::Plain, 40, 64),
    ("posthog-key", "phx_", Alphabet::Plain, 40, 64),
    ("posthog-key", "phs_", Alphabet::Plain, 32, 64),
    ("postman-key", "PMAK-", Alphabet::Url, 50, 80),
    ("prefect-token", "pnu_ pnb_", Alphabet::Plain, 36, 36),
    ("pulumi-token", "pul-", Alphabet::Hex, 40, 40),
    ("pypi-token", "pypi-", Alphabet::Url, 50, LONGEST),
    ("razorpay-key", "rzp_live_ rzp_test_", Alphabet::Plain, 14, 32),
    ("readme-token", "rdme_", Alphabet::Plain, 70, 70),
    ("render-key", "rnd_", Alphabet::Plain, 24, 64),
    ("replicate-token", "r8_", Alphabet::Plain, 36, 64),
    ("resend-key", "re_", Alphabet::Url, 24, 64),
    ("rubygems-key", "rubygems_", Alphabet::Hex, 48, 48),
    ("runpod-key", "rpa_", Alphabet::Plain, 32, 64),
    ("scalingo-token", "tk-us-", Alphabet::Url, 48, 48),
    ("sendgrid-key", "SG.", Alphabet::Dotted, 60, 72),
    ("sentry-token", "sntrys_", Alphabet::Base64, 40, 512),
    ("sentry-token", "sntryu_", Alphabet::Hex, 64, 64),
    ("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", Alphabet::Plain, 16, 16),
    ("shippo-token", "shippo_live_ shippo_test_", Alphabet::Hex, 40, 40),
    ("shopify-token", "shpat_ shpss_ shpca_ shppa_ shpua_ shpit_", Alphabet::Hex, 32, 32),
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xapp- xoxe- xoxo- xoxc-", Alphabet::Url, 20, 255),
    ("slack-token", "xoxd-", Alphabet::Address, 20, 400),
    (
        "slack-webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        Alphabet::Base64,
        30,
        128,
    ),
    ("snyk-token", "snyk_uat.", Alphabet::Dotted, 40, 255),
    ("sonar-token", "sqp_ squ_ sqa_", Alphabet::Hex, 40, 40),
    ("sourcegraph-token", "sgp_", Alphabet::Url, 40, 64),
    ("square-token", "sq0atp-", Alphabet::Url, 22, 60),
    ("square-token", "sq0csp-", Alphabet::Url, 43, 60),
    ("square-token", "EAAA", Alphabet::Url, 60, 60),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", Alphabet::Plain, 16, 256),
    ("stripe-key", "sk_dev_", Alphabet::Plain, 24, 256),
    ("stytch-secret", "secret-live- secret-test-", Alphabet::Url, 36, 64),
    ("supabase-key", "sb_secret_", Alphabet::Url, 20, 64),
    ("supabase-token", "sbp_", Alphabet::Hex, 40, 40),
    ("tailscale-key", "tskey-", Alphabet::Url, 20, 128),
    ("tavily-key", "tvly-", Alphabet::Url, 28, 80),
    ("teams-webhook", "webhook.office.com/webhookb2/", Alphabet::Address, 100, 300),
    ("tencent-key", "AKID", Alphabet::Plain, 32, 32),
    ("together-key", "tgp_v1_", Alphabet::Url, 32, 80),
    ("trigger-key", "tr_prod_ tr_dev_", Alphabet::Plain, 20, 40),
    ("twilio-key", "SK", Alphabet::Hex, 32, 32),
    ("twitch-token", "oauth:", Alphabet::Plain, 30, 30),
    ("typeform-token", "tfp_", Alphabet::Dotted, 59, 59),
    ("unkey-key", "unkey_", Alphabet::Plain, 16, 40),
    ("vault-token", "hvs. hvr.", Alphabet::Url, 24, 255),
    ("vault-token", "hvb.", Alphabet::Url, 138, 300),
    ("vercel-token", "vcp_ vck_ vca_ vci_ vcr_", Alphabet::Plain, 24, 80),
    ("vercel-token", "vercel_blob_rw_", Alphabet::Url, 30, 80),
    ("voyage-key", "pa-", Alphabet::Url, 40, 64),
    ("wandb-key", "wandb_v1_", Alphabet::Url, 40, 128),
    ("webhook-secret", "whsec_", Alphabet::Base64, 24, 128),
    ("xai-key", "xai-", Alphabet::Plain, 60, 128),
    ("xata-key", "xau_", Alphabet::Plain, 30, 64),
    ("yandex-key", "AQVN", Alphabet::Url, 35, 38),
    ("yandex-token", "t1.9eu", Alphabet::Dotted, 80, 255),
    ("yandex-token", "y0_", Alphabet::Url, 50, 80),
];

pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shapes = |&(kind, prefixes, alphabet, least, most): &(&'static str, &'static str, Alphabet, usize, usize)| {
        prefixes.split(' ').map(move |prefix| Shape { kind, prefix, alphabet, length: (least, most) })
    };
    FORMS.iter().flat_map(shapes).collect()
});

/// A shape with a fixed part inside: the bytes before and after it.
pub(super) struct Infix {
    pub(super) kind: &'static str,
    pub(super) mark: &'static str,
    pub(super) before: (Alphabet, usize, usize),
    pub(super) after: (Alphabet, usize, usize),
}

/// The known shapes with a fixed part inside.
pub(super) static INFIXES: &[Infix] = &[
    Infix { kind: "telegram-token", mark: ":AA", before: (Alphabet::Digit, 7, 11), after: (Alphabet::Url, 33, 33) },
    Infix { kind: "azure-secret", mark: "Q~", before: (Alphabet::Dotted, 4, 4), after: (Alphabet::Tilde, 31, 34) },
    Infix { kind: "azure-devops-token", mark: "AZDO", before: (Alphabet::Plain, 76, 80), after: (Alphabet::Plain, 4, 4) },
    Infix { kind: "azure-openai-key", mark: "JQQJ99", before: (Alphabet::Plain, 52, 52), after: (Alphabet::Plain, 26, 26) },
    Infix { kind: "terraform-token", mark: ".atlasv1.", before: (Alphabet::Plain, 14, 14), after: (Alphabet::Url, 60, 70) },
    Infix { kind: "firebase-key", mark: ":APA91b", before: (Alphabet::Url, 11, 22), after: (Alphabet::Url, 100, 200) },
    Infix { kind: "mailchimp-key", mark: "-us", before: (Alphabet::Hex, 32, 32), after: (Alphabet::Digit, 1, 2) },
    Infix { kind: "braintree-token", mark: "$production$", before: (Alphabet::Url, 12, 12), after: (Alphabet::Dotted, 40, 60) },
];
