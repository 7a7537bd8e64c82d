//! Closed word classes of the languages in which users write: which words open a question, carry a subject, negate, oblige.
//!
//! The lists hold function words and set phrases, no topics: the mood of a sentence shows in them, whatever it is about. All lists are
//! sorted, in lower case, with straight apostrophes; a phrase has single spaces. Languages without spaces are searched by substring.

/// The closed word classes of a language.
#[derive(Debug)]
pub(super) struct Grammar {
    /// True if words are separated by spaces.
    pub is_spaced: bool,
    /// True if a sentence needs no pronoun for its subject, so that a missing first person means nothing.
    pub drops_subjects: bool,
    /// Words of the first person: the sign that a person speaks about their own work.
    pub first_person: &'static [&'static str],
    /// Pronouns and determiners that open a statement.
    pub subjects: &'static [&'static str],
    /// Finite auxiliary and modal verbs: after a subject they make a statement, before it a question.
    pub auxiliaries: &'static [&'static str],
    /// Words that open a question about a thing, a way or a reason.
    pub question_words: &'static [&'static str],
    /// Words that ask for a reason.
    pub reasons: &'static [&'static str],
    /// Words before the sentence proper: agreement, hesitation, conjunctions.
    pub openers: &'static [&'static str],
    /// Openers that contradict.
    pub contrasts: &'static [&'static str],
    /// Conjunctions that contradict within a sentence.
    pub adversatives: &'static [&'static str],
    /// Pronouns with which the user tells what they did.
    pub narrators: &'static [&'static str],
    pub consequences: &'static [&'static str],
    /// Pronouns of the user, the agent or both: a question for the reason of their acts criticizes.
    pub people: &'static [&'static str],
    pub negations: &'static [&'static str],
    /// Words of obligation, need and expectation.
    pub obligations: &'static [&'static str],
    /// Phrases in which the user states a taste.
    pub tastes: &'static [&'static str],
    /// Phrases in which the user states a belief or an intention.
    pub stances: &'static [&'static str],
    /// Phrases that replace one thing by another.
    pub alternatives: &'static [&'static str],
    /// Words of generality: what they qualify holds beyond the task at hand.
    pub generalities: &'static [&'static str],
    /// Words that state a rule for the future when a clause starts with them.
    pub rules: &'static [&'static str],
    /// Phrases that give a purpose, an origin or a convention of the project.
    pub conventions: &'static [&'static str],
    /// Phrases that ask the agent to do a thing now, whatever their form.
    pub requests: &'static [&'static str],
    /// Words that approve or thank.
    pub approvals: &'static [&'static str],
    /// Words that report a failure or an unexpected outcome.
    pub failures: &'static [&'static str],
    /// Words that open a condition.
    pub conditions: &'static [&'static str],
    /// Words of doubt: what they qualify is an idea, not a rule.
    pub hedges: &'static [&'static str],
    /// Words that ask for a confirmation at the end of a sentence.
    pub tags: &'static [&'static str],
    /// Words that bind a sentence to the task at hand.
    pub moments: &'static [&'static str],
}

impl Grammar {
    /// Returns all lists.
    pub fn lists(&self) -> [&'static [&'static str]; 26] {
        [
            self.first_person, self.subjects, self.auxiliaries, self.question_words, self.reasons, self.openers, self.contrasts,
            self.adversatives, self.narrators, self.consequences, self.people, self.negations, self.obligations, self.stances,
            self.tastes, self.alternatives, self.generalities, self.rules, self.conventions, self.requests, self.approvals,
            self.failures, self.conditions, self.tags, self.hedges, self.moments,
        ]
    }
}

/// All grammars; the first one wins if no word decides.
pub(super) static GRAMMARS: [&Grammar; 8] = [&ENGLISH, &GERMAN, &SPANISH, &FRENCH, &PORTUGUESE, &CHINESE, &JAPANESE, &KOREAN];

static ENGLISH: Grammar = Grammar {
    is_spaced: true,
    drops_subjects: false,
    first_person: &[
        "i", "i'd", "i'll", "i'm", "i've", "let's", "lets", "me", "my", "our", "ours", "us", "we", "we'd", "we'll", "we're",
        "we've",
    ],
    subjects: &[
        "a", "all", "an", "both", "each", "every", "he", "i", "i'd", "i'm", "i've", "it", "it's", "its", "my", "our", "she",
        "that", "that's", "the", "there", "there's", "these", "they", "they're", "this", "those", "we", "we'd", "we're", "we've",
        "you", "you're", "your",
    ],
    auxiliaries: &[
        "am", "are", "aren't", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "don't",
        "had", "has", "hasn't", "have", "haven't", "is", "isn't", "may", "might", "must", "shall", "should", "shouldn't", "was",
        "wasn't", "were", "weren't", "will", "won't", "would", "wouldn't",
    ],
    question_words: &["how", "how's", "what", "what's", "when", "where", "which", "who", "whose", "why"],
    reasons: &["how come", "why"],
    openers: &[
        "actually", "again", "also", "and", "anyway", "but", "cool", "erm", "fine", "great", "hm", "hmm", "however", "lol", "mh",
        "no", "nope", "oh", "ok", "okay", "or", "perfect", "please", "right", "so", "sorry", "sure", "then", "uh", "um", "wait",
        "well", "yea", "yeah", "yep", "yes",
    ],
    contrasts: &["actually", "again", "but", "however", "no", "nope", "not", "really", "wait"],
    adversatives: &["although", "but", "however", "though"],
    narrators: &["i", "i'm", "i've"],
    consequences: &["hence", "so", "therefore"],
    people: &["we", "you"],
    negations: &[
        "aren't", "can't", "cannot", "couldn't", "didn't", "doesn't", "don't", "hasn't", "haven't", "isn't", "neither", "never",
        "no", "nor", "not", "shouldn't", "stop", "wasn't", "weren't", "without", "won't", "wouldn't",
    ],
    obligations: &[
        "expect", "expected", "had to", "has to", "have to", "make sure", "must", "need", "needs", "ought", "required",
        "requires", "should", "should've", "shouldn't", "supposed to", "want", "wants",
    ],
    tastes: &["care about", "i care", "i don't like", "i like", "i prefer", "i'd prefer", "i'd rather", "prefer"],
    stances: &[
        "feels like", "i believe", "i don't think", "i expected", "i feel", "i guess", "i mean", "i meant", "i think",
        "i thought", "i was expecting", "i would", "i wouldn't", "i'm not sure", "in my opinion", "my point",
    ],
    alternatives: &["how about", "in favor of", "instead", "not what i", "rather", "rather than", "what about", "what if"],
    generalities: &[
        "always", "any", "anywhere", "as a default", "by default", "each time", "every", "every time", "everytime", "everywhere",
        "from now on", "generally", "in general", "in the future", "long term", "long-term", "never", "normally", "only",
        "remember", "standard", "usually", "whenever", "wherever",
    ],
    rules: &[
        "always", "as a rule", "for future reference", "from now on", "going forward", "in future", "in the future",
        "keep in mind", "never", "note that", "remember",
    ],
    conventions: &[
        "as we do", "best practice", "best practices", "comes from", "convention", "is called", "like the other", "like we do",
        "same as", "same pattern", "the assumption is", "the goal is", "the idea is", "the intention", "the point is",
        "the purpose", "the rule", "we don't have", "we have", "we never", "we use",
    ],
    requests: &[
        "can you", "could you", "go ahead", "i need to", "i want to", "i want you", "i'd like to", "let me", "let's", "lets",
        "please", "take a look", "tell me", "would you", "you can", "you could", "you may",
    ],
    approvals: &[
        "agreed", "are good", "awesome", "fine", "good", "great", "is fine", "is good", "looks good", "love it", "makes sense",
        "nice", "not bad", "perfect", "sounds good", "thank you", "thanks", "works now",
    ],
    failures: &[
        "404", "500", "broke", "broken", "bug", "crash", "crashed", "crashes", "doesn't show", "doesn't work", "error", "errors",
        "exception", "fail", "failed", "failing", "fails", "failure", "failures", "hang", "hangs", "happening", "is missing",
        "isn't working", "issue with", "missing", "not found", "not there", "not working", "panicked", "problem is", "still get",
        "still getting", "stuck", "wrong output",
    ],
    conditions: &["if", "once", "unless", "when", "whenever"],
    hedges: &[
        "a chance", "could", "i assume", "i guess", "i suspect", "i wonder", "i would think", "i'm not sure", "ideally", "maybe",
        "might", "not sure", "perhaps", "possibly", "probably",
    ],
    tags: &["correct", "hey", "huh", "ok", "okay", "right", "yeah", "yes"],
    moments: &["first", "for now", "for this one", "here", "now", "right now", "this time", "today", "tomorrow"],
};

static GERMAN: Grammar = Grammar {
    is_spaced: true,
    drops_subjects: false,
    first_person: &["ich", "mein", "meine", "mich", "mir", "uns", "unser", "unsere", "wir"],
    subjects: &[
        "alle", "das", "der", "die", "diese", "dieser", "dieses", "du", "ein", "eine", "er", "es", "ich", "jede", "jeder", "man",
        "mein", "sie", "unser", "unsere", "wir",
    ],
    auxiliaries: &[
        "bin", "darf", "habe", "haben", "hast", "hat", "ist", "kann", "kannst", "können", "könnte", "könnten", "muss", "musst",
        "müssen", "müsste", "sind", "soll", "sollen", "sollst", "sollte", "sollten", "war", "waren", "warst", "will", "wird",
        "wollen", "wollte", "wollten", "wurde", "wäre", "würde", "würden",
    ],
    question_words: &[
        "wann", "warum", "was", "welche", "welcher", "welches", "wer", "weshalb", "wie", "wieso", "wo", "wohin", "wozu",
    ],
    reasons: &["warum", "weshalb", "wieso", "wozu"],
    openers: &[
        "aber", "ach", "also", "außerdem", "bitte", "doch", "gut", "hm", "hmm", "ja", "moment", "nee", "nein", "nö", "oder",
        "ok", "okay", "super", "und",
    ],
    contrasts: &["aber", "doch", "eigentlich", "moment", "nee", "nein", "nicht", "nö", "sondern", "stopp"],
    adversatives: &["aber", "allerdings", "jedoch", "sondern"],
    narrators: &["ich"],
    consequences: &["also", "daher", "darum", "deshalb"],
    people: &["du", "ihr", "wir"],
    negations: &["kein", "keine", "keinen", "keiner", "nein", "nicht", "nichts", "nie", "niemals", "ohne"],
    obligations: &[
        "achte darauf", "benötigt", "brauchen", "braucht", "dürfen", "erwarte", "muss", "musst", "müssen", "müsste", "soll",
        "sollen", "sollst", "sollte", "sollten", "will", "wollen", "wollte", "wollten",
    ],
    tastes: &["gefällt mir nicht", "ich mag", "ich möchte", "lieber"],
    stances: &[
        "ich dachte", "ich denke", "ich finde", "ich glaube", "ich hätte", "ich meine", "ich meinte", "ich will", "ich würde",
        "meiner meinung",
    ],
    alternatives: &["anstatt", "anstelle", "lieber", "sondern", "statt", "stattdessen", "was ist mit", "wie wäre"],
    generalities: &[
        "ab jetzt", "ab sofort", "allgemein", "generell", "grundsätzlich", "immer", "in zukunft", "jedes mal", "künftig",
        "merk dir", "nie", "niemals", "normalerweise", "nur", "standardmäßig", "überall",
    ],
    rules: &["ab jetzt", "ab sofort", "grundsätzlich", "immer", "in zukunft", "künftig", "merk dir", "nie", "niemals"],
    conventions: &[
        "das ziel ist", "die idee ist", "die regel", "heißt bei uns", "kommt aus", "konvention", "wie bei", "wie sonst",
        "wie wir", "wir haben", "wir verwenden",
    ],
    requests: &["bitte", "du kannst", "du könntest", "kannst du", "könntest du", "lass uns", "mach", "schau", "zeig"],
    approvals: &["danke", "gut", "passt", "perfekt", "prima", "sieht gut aus", "stimmt", "super"],
    failures: &[
        "abgestürzt", "absturz", "bricht ab", "defekt", "fehler", "fehlermeldung", "fehlgeschlagen", "fehlt",
        "funktioniert nicht", "geht nicht", "hängt", "immer noch nicht", "kaputt", "klappt nicht", "schlägt fehl",
    ],
    conditions: &["falls", "sobald", "sofern", "wenn"],
    hedges: &["eventuell", "könnte", "könnten", "nicht sicher", "vermutlich", "vielleicht", "wahrscheinlich"],
    tags: &["oder", "richtig", "stimmt's"],
    moments: &["gerade", "heute", "hier", "jetzt", "vorerst", "zuerst"],
};

static SPANISH: Grammar = Grammar {
    is_spaced: true,
    drops_subjects: true,
    first_person: &["me", "mi", "nos", "nosotros", "nuestra", "nuestro", "yo"],
    subjects: &[
        "el", "ella", "ellos", "esa", "ese", "eso", "esta", "este", "esto", "la", "las", "los", "nosotros", "nuestra", "nuestro",
        "todas", "todos", "tú", "un", "una", "usted", "yo",
    ],
    auxiliaries: &[
        "debe", "debemos", "deben", "debería", "deberíamos", "deberían", "era", "es", "está", "están", "fue", "ha", "han", "hay",
        "hemos", "podemos", "podría", "podríamos", "puede", "pueden", "son", "tenemos", "tiene", "tienen", "va",
    ],
    question_words: &["cuál", "cuáles", "cuándo", "cómo", "dónde", "por qué", "quién", "qué"],
    reasons: &["por qué"],
    openers: &[
        "además", "ah", "bien", "bueno", "entonces", "espera", "no", "o", "ok", "perfecto", "pero", "por favor", "pues", "sí",
        "vale", "y",
    ],
    contrasts: &["en realidad", "espera", "no", "pero", "sino"],
    adversatives: &["aunque", "pero", "sino"],
    narrators: &["yo"],
    consequences: &["así", "entonces"],
    people: &["nosotros", "tú", "usted"],
    negations: &["jamás", "nada", "ni", "ninguna", "ninguno", "no", "nunca", "sin", "tampoco"],
    obligations: &[
        "asegúrate", "debe", "debemos", "deben", "debería", "deberíamos", "deberían", "hace falta", "hay que", "necesita",
        "necesitamos", "queremos", "quería", "quiero", "requiere", "tenemos que", "tiene que", "tienen que",
    ],
    tastes: &["me gustaría", "no me gusta", "prefiero"],
    stances: &["creo que", "creía que", "me refería", "pensaba que", "pensé que", "quería decir", "quise decir"],
    alternatives: &["en lugar de", "en vez de", "mejor", "qué tal si", "sino", "y si"],
    generalities: &[
        "a partir de ahora", "cada", "cada vez", "de ahora en adelante", "en general", "normalmente", "nunca", "por defecto",
        "recuerda", "siempre", "solo", "sólo", "todas", "todos",
    ],
    rules: &["a partir de ahora", "de ahora en adelante", "nunca", "recuerda", "siempre", "ten en cuenta"],
    conventions: &[
        "como hacemos", "el objetivo es", "igual que", "la idea es", "la regla", "no tenemos", "se llama", "usamos", "viene de",
    ],
    requests: &["podrías", "por favor", "puedes", "vamos a"],
    approvals: &["bien", "excelente", "genial", "gracias", "perfecto", "vale"],
    failures: &[
        "aún no", "error", "errores", "falla", "falló", "falta", "no aparece", "no funciona", "roto", "se cuelga", "sigue sin",
        "todavía no",
    ],
    conditions: &["cuando", "salvo que", "si", "siempre que"],
    hedges: &["a lo mejor", "no estoy seguro", "probablemente", "quizá", "quizás", "tal vez"],
    tags: &["no", "verdad"],
    moments: &["ahora", "aquí", "hoy", "por ahora", "primero"],
};

static FRENCH: Grammar = Grammar {
    is_spaced: true,
    drops_subjects: false,
    first_person: &["j'ai", "j'aimerais", "je", "ma", "me", "mes", "moi", "mon", "nos", "notre", "nous", "on"],
    subjects: &[
        "c'est", "ce", "ces", "cet", "cette", "ceux", "chaque", "elle", "elles", "il", "ils", "j'ai", "je", "la", "le", "les",
        "notre", "nous", "on", "tous", "toutes", "tu", "un", "une", "vous", "ça",
    ],
    auxiliaries: &[
        "a", "as", "avez", "avons", "devait", "devons", "devrait", "devrions", "doit", "doivent", "est", "est-ce", "faut", "ont",
        "peut", "peut-on", "peux", "pourrait", "sera", "sont", "était",
    ],
    question_words: &["combien", "comment", "où", "pourquoi", "qu'est-ce", "quand", "quel", "quelle", "quels", "qui", "quoi"],
    reasons: &["pourquoi"],
    openers: &[
        "ah", "alors", "attends", "aussi", "bon", "d'accord", "donc", "et", "euh", "mais", "non", "ok", "ou", "oui", "parfait",
        "s'il te plaît", "super",
    ],
    contrasts: &["attends", "en fait", "mais", "non", "plutôt"],
    adversatives: &["cependant", "mais", "pourtant"],
    narrators: &["j'ai", "je"],
    consequences: &["alors", "donc"],
    people: &["nous", "on", "tu", "vous"],
    negations: &["aucun", "aucune", "jamais", "ne", "ni", "non", "pas", "rien", "sans"],
    obligations: &[
        "assure-toi", "besoin", "devait", "devons", "devrait", "devrions", "doit", "doivent", "il faudrait", "il faut",
        "je veux", "nécessite", "on veut", "veux", "voulais",
    ],
    tastes: &["j'aimerais", "je n'aime pas", "je préfère"],
    stances: &["je croyais", "je pensais", "je pense", "je trouve", "je veux", "je voulais dire"],
    alternatives: &["au lieu", "et si", "plutôt", "plutôt que", "à la place"],
    generalities: &[
        "chaque", "chaque fois", "d'habitude", "dorénavant", "désormais", "en général", "jamais", "normalement", "par défaut",
        "partout", "seulement", "souviens-toi", "toujours", "à partir de maintenant",
    ],
    rules: &[
        "dorénavant", "désormais", "jamais", "ne jamais", "retiens", "souviens-toi", "toujours", "à l'avenir",
        "à partir de maintenant",
    ],
    conventions: &[
        "comme d'habitude", "comme on fait", "l'idée est", "l'objectif est", "la règle", "le but est", "on n'a pas",
        "on utilise", "s'appelle", "vient de",
    ],
    requests: &["peux-tu", "pouvez-vous", "s'il te plaît", "s'il vous plaît", "tu peux", "tu pourrais", "vous pouvez"],
    approvals: &["bien", "génial", "merci", "parfait", "super"],
    failures: &[
        "cassé", "erreur", "erreurs", "manque", "marche pas", "ne fonctionne pas", "ne marche pas", "plante", "toujours pas",
        "échec", "échoue",
    ],
    conditions: &["dès que", "lorsque", "quand", "sauf si", "si"],
    hedges: &["je me demande", "pas sûr", "peut-être", "probablement", "sans doute"],
    tags: &["hein", "non"],
    moments: &["aujourd'hui", "d'abord", "ici", "maintenant", "pour l'instant"],
};

static PORTUGUESE: Grammar = Grammar {
    is_spaced: true,
    drops_subjects: true,
    first_person: &["eu", "me", "meu", "minha", "nossa", "nosso", "nós"],
    subjects: &[
        "a gente", "as", "cada", "ela", "ele", "eles", "essa", "esse", "esta", "este", "eu", "isso", "isto", "nossa", "nosso",
        "nós", "os", "todas", "todos", "um", "uma", "você",
    ],
    auxiliaries: &[
        "deve", "devem", "devemos", "deveria", "deveriam", "deveríamos", "era", "está", "estão", "foi", "há", "pode", "podem",
        "podemos", "poderia", "são", "tem", "temos", "têm", "vai", "é",
    ],
    question_words: &["como", "o que", "onde", "por que", "quais", "qual", "quando", "quem"],
    reasons: &["por que", "por quê"],
    openers: &[
        "ah", "além disso", "beleza", "bem", "certo", "e", "então", "espera", "mas", "não", "ok", "ou", "por favor", "sim",
    ],
    contrasts: &["espera", "mas", "na verdade", "não"],
    adversatives: &["embora", "mas", "porém"],
    narrators: &["eu"],
    consequences: &["então", "portanto"],
    people: &["a gente", "nós", "você"],
    negations: &["jamais", "nada", "nem", "nenhum", "nenhuma", "nunca", "não", "sem"],
    obligations: &[
        "certifique-se", "deve", "devem", "devemos", "deveria", "deveriam", "deveríamos", "precisa", "precisamos", "queremos",
        "queria", "quero", "requer", "tem que", "temos que", "é preciso",
    ],
    tastes: &["gostaria", "não gosto", "prefiro"],
    stances: &["achei que", "acho que", "eu quero", "eu quis dizer", "pensei que"],
    alternatives: &["ao invés de", "e se", "em vez de", "melhor", "que tal"],
    generalities: &[
        "a partir de agora", "cada", "daqui em diante", "em geral", "lembre-se", "normalmente", "nunca", "por padrão", "sempre",
        "somente", "só", "toda vez", "todas", "todos",
    ],
    rules: &["a partir de agora", "daqui em diante", "lembre-se", "nunca", "sempre"],
    conventions: &["a ideia é", "a regra", "como fazemos", "igual a", "não temos", "o objetivo é", "usamos", "vem de"],
    requests: &["pode", "poderia", "por favor", "vamos", "você pode"],
    approvals: &["beleza", "bom", "obrigada", "obrigado", "perfeito", "valeu", "ótimo"],
    failures: &["ainda não", "erro", "erros", "falha", "falhou", "falta", "não aparece", "não funciona", "quebrado", "travou"],
    conditions: &["a menos que", "caso", "quando", "se", "sempre que"],
    hedges: &["não tenho certeza", "provavelmente", "será que", "talvez"],
    tags: &["certo", "né"],
    moments: &["agora", "aqui", "hoje", "por enquanto", "primeiro"],
};

static CHINESE: Grammar = Grammar {
    is_spaced: false,
    drops_subjects: true,
    first_person: &["俺", "咱", "我"],
    subjects: &["他", "你", "它", "我", "这", "那"],
    auxiliaries: &[],
    question_words: &["什么", "几个", "吗", "呢", "哪", "多少", "如何", "怎么", "是否"],
    reasons: &["为什么", "为何", "干嘛"],
    openers: &[],
    contrasts: &["不对", "不是", "但是", "其实", "等等", "错了"],
    adversatives: &["不过", "但", "可是"],
    narrators: &[],
    consequences: &["所以"],
    people: &["你", "我们"],
    negations: &["不", "别", "勿", "没", "禁止"],
    obligations: &["不能", "不要", "务必", "应该", "得", "必须", "要求", "需要"],
    tastes: &["我喜欢", "我希望", "我想要"],
    stances: &["我以为", "我的意思", "我觉得", "我认为"],
    alternatives: &["不如", "改成", "改用", "替代", "而不是", "而是", "还是用"],
    generalities: &[
        "一律", "今后", "从现在", "以后", "只", "始终", "总是", "所有", "每次", "永远", "统一", "记住", "都要", "默认",
    ],
    rules: &["今后", "从现在", "以后", "总是", "每次", "永远", "记住"],
    conventions: &["我们用", "我们的规范", "目标是", "约定", "规则", "规范"],
    requests: &["帮我", "看一下", "看看", "继续", "请"],
    approvals: &["不错", "可以了", "好的", "很好", "没问题", "谢谢"],
    failures: &["不工作", "不显示", "不行", "失败", "崩溃", "异常", "报错", "没反应", "没有生效", "还是没", "错误"],
    conditions: &["只要", "如果", "当"],
    hedges: &["不确定", "也许", "可能", "大概", "或许"],
    tags: &["对吗", "对吧", "是吧"],
    moments: &["今天", "先", "暂时", "现在", "这次", "这里"],
};

static JAPANESE: Grammar = Grammar {
    is_spaced: false,
    drops_subjects: true,
    first_person: &["俺", "僕", "私"],
    subjects: &["あれ", "が", "これ", "それ", "は"],
    auxiliaries: &[],
    question_words: &["か。", "か？", "ですか", "どう", "どこ", "ますか", "何", "誰"],
    reasons: &["どうして", "なぜ", "なんで"],
    openers: &[],
    contrasts: &["いや", "しかし", "じゃなくて", "ではなく", "でも", "違います", "違う"],
    adversatives: &["けど", "けれど", "しかし", "ただし"],
    narrators: &[],
    consequences: &["だから"],
    people: &[],
    negations: &["しない", "ず", "ない", "ません", "禁止"],
    obligations: &["してはいけない", "しないで", "するべき", "てください", "なければ", "べき", "必ず", "必要"],
    tastes: &["がいい", "ほしい", "好き", "欲しい"],
    stances: &["つもり", "と思います", "と思う", "と思った", "と思って"],
    alternatives: &["じゃなくて", "ではなく", "の代わり", "より", "代わりに", "方がいい"],
    generalities: &["いつも", "これから", "すべて", "だけ", "デフォルト", "今後", "全て", "原則", "常に", "必ず", "毎回"],
    rules: &["これから", "今後", "常に", "必ず", "毎回", "覚えて"],
    conventions: &["ルール", "使っています", "方針", "目標は", "目的は", "規約"],
    requests: &["お願い", "ください", "教えて", "見て"],
    approvals: &["ありがとう", "いいね", "大丈夫", "良い"],
    failures: &["できません", "まだ", "エラー", "動かない", "動きません", "壊れ", "失敗", "落ちる", "表示されない"],
    conditions: &["たら", "とき", "なら", "場合", "時は"],
    hedges: &["かも", "たぶん", "だろう", "でしょうか", "多分"],
    tags: &["だよね", "でしょ", "よね"],
    moments: &["とりあえず", "まず", "今は", "今回", "今日"],
};

static KOREAN: Grammar = Grammar {
    is_spaced: false,
    drops_subjects: true,
    first_person: &["나", "내", "우리", "저는", "제가"],
    subjects: &["그건", "그게", "우리", "이거", "이건", "이게"],
    auxiliaries: &[],
    question_words: &["까요", "나요", "니까?", "무엇", "뭐", "어디", "어떻게", "언제"],
    reasons: &["어째서", "왜"],
    openers: &[],
    contrasts: &["그런데", "근데", "아니", "아니요", "잠깐", "하지만"],
    adversatives: &["그러나", "지만", "하지만"],
    narrators: &[],
    consequences: &["그래서"],
    people: &["우리"],
    negations: &["마세요", "말고", "말아", "안 ", "않", "없", "지 마", "지마"],
    obligations: &["꼭", "반드시", "야 합니다", "야 해", "필요", "하지 마", "해야"],
    tastes: &["선호", "싶", "원합니다", "원해", "좋겠"],
    stances: &["라고 생각", "줄 알았"],
    alternatives: &["대신", "말고", "보다는", "아니라"],
    generalities: &["기본값", "기본적으로", "만 ", "매번", "모든", "앞으로", "언제나", "절대", "항상"],
    rules: &["기억", "매번", "앞으로", "절대", "항상"],
    conventions: &["규칙", "목적은", "목표는", "방침", "사용합니다", "컨벤션"],
    requests: &["보여", "부탁", "해 주세요", "해주세요", "해줘"],
    approvals: &["감사", "고마", "완벽", "좋네", "좋습니다", "좋아"],
    failures: &["깨졌", "실패", "아직도", "안 돼", "안 됩니다", "안돼", "에러", "오류", "작동하지"],
    conditions: &["경우", "때는", "면 "],
    hedges: &["것 같", "수도", "아마", "어쩌면"],
    tags: &["그렇지", "맞죠", "맞지"],
    moments: &["오늘", "우선", "이번", "일단", "지금"],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_in_lower_case() {
        for grammar in GRAMMARS {
            for list in grammar.lists() {
                assert!(list.is_sorted(), "{list:?}");
                assert!(list.iter().all(|word| *word == word.to_lowercase()), "{list:?}");
            }
        }
    }
}
