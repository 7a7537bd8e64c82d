//! Words that are not a part of a phrase, or do not begin or end one. Selected manually; not a published list.

/// Function words of European languages, and words of a conversation, that end a phrase; in addition to the stop words.
pub const BREAKS: &str = "\
    compared relative regarding meantime account halfway soon ran yourself myself themselves worth related kinda future exercise today tomorrow hopefully sensible vs despite someone another couple other wherever recent a everywhere fair confirms holds covers passes sends handles supports takes took persists persist adds requires expects shows whenever nor play plays breaks correctly streams replaced itself others basically guys hmm second seem though batch regress exited plausible examples findings finding remaining trick little short confused common specific date docs \
    arent cant couldn couldnt didn didnt doesn doesnt dont hadn hasn havent heres isn isnt ive lets shouldnt thats theres wasn wasnt weren whats wont wouldnt youre said asked says yes \
    a actual actually agree ah almost alright am an anyway apart as assume at away awesome be become bit both btw by certain cool curious \
    difference do ehh else erm especially etc ever fairly far general generally go going gonna gotcha guess happen happens he hello hey \
    hi hm hmm i idea ideally if im in is isn it kind least less let's like lot lots me mind mostly my nah nice no nope of oh ok on or \
    otherwise perhaps point pretty quick quite rather reason seems sense similar so somewhat sort sorry stuff stufff subset sure thank \
    thanks thoughts thus to together up upon us usually we weird whatever whole yeah yep yup \
    aber alle als also am an auch auf aus bei bis bitte da damit dann das dass dein dem den denn der des die dies diese diesem diesen \
    dieser dieses dir doch du durch ein eine einem einen einer eines er es etwas für gib habe haben hat hier ich ihr im in ist ja jetzt \
    kann kannst können mach mache machen mal man mehr mein meine mich mir mit muss nach neu neue neuen nicht noch nur ob oder ohne schon \
    sehr sein sich sie sind so soll sollte sollen soweit über um und uns unter vom von vor war warum was wenn wer werden wie wieder wir wird wo wollen \
    zu zum zur zwischen \
    à afin ai alors après au aussi autre aux avec avoir avons bien car ce ceci cela ces cet cette comme comment dans de des donc du elle \
    en encore est et être fait faire faut il ils je la le les leur lui mais merci mes mon même moi ne nous on ou où par pas peu peut peux \
    plus pour pourquoi qu quand que quel quelle qui sa sans se ses si son sont sur ta te tes toi ton tous tout toute très tu un une veux vos votre vous y \
    al algo antes aquí así cada como con cuando de del desde donde dos el ella ellos en entonces era es esa ese eso esta estaba este esto \
    está están favor fue ha hacer hasta hay la las le lo los más me mi mis muy necesito no nos o otra otro para pero poner por porque \
    puede puedes que quiero qué se sea ser si sin sobre solo son su sus sí también te tener tengo tiene todo tu un una uno unos y ya yo \
    ao aos aqui até com da das depois dele do dos ela ele em então essa esse está eu foi isso isto já mais mas mesmo meu minha muito na nas não nem no nos nós num o os ou outra outro pela pelo pode preciso quero se sem ser seu só sua são tem tudo um uma você \
    agli ai alla alle anche che chi ci come con così cosa da dai dal dalla dei del della delle di dove e fare gli ha ho i il in io la le lo loro ma mi mio nel nella noi non o ogni per perché più poi può qui quando quello questa questo se sei si solo sono sua sul sulla suo ti tra tutto un una uno vorrei \
    aan als bij dan dat de deze die dit een en er graag geen het hoe ik je kan maar met mijn naar niet nog nu of om ook op te tot uit van voor waar wat we wel worden zijn zo \
    без бы был быть в вам вас во вот все всё вы где да для до его ее ей если есть ещё же за и из или им их к как какой когда которая который ли мне может можно мой мы на надо нам нас не него нее нет ни но ну о об он она они оно от по под пожалуйста при про с сейчас со так также такой там то того тоже только тот ты у уже хочу чего чем что чтобы эта эти это этого этой этом этот я";

/// Verbs, adverbs and adjectives of requests, and words of tools, that do not begin or end a phrase.
pub const EDGES: &str = "\
    inspect making makes post reformulate reference referencing original subtle concise prioritized potential experienced skilled senior optional reviewing deeper specific major global working suffice critical clarify different focus focusing ensure accept compact compacting re-check recheck committing proceed waiting clicking starting invoking verifying three four coming sent confirmed dead green flagging confirms adds persist everywhere fair enabled yours fresh bigger biggest confident comprehensive huge somehow earlier meaningful suitable ahead solves wants thinks feels flows supress transforms spawn craft reproducing fetching pushing popular answers belong belongs calls caught contains interfering prefer stick talking address adjust allow analyse analyze answer apply approve asked asking asks assuming attempt avoid begin big bring bump bunch careful cause \
    causes causing clean cleaned clear close come comes commit compare consider consistent construct continues convert copy correct count covered cut debug decide decided defined delete \
    describe detail detailed determine directly disable discuss document doesn drop easier easily enable encounter entirely execute executing expect explain explicitly explore extend extract fail failed failing \
    fails feel fetch figure finish finished finishing fixing follow full fully gave generate giving goes gone handle happened happening hard hate hear hold identify ignore implemented implementing improve initial install introduce \
    investigate invoke join keeping keeps kill launch lead learn leave leaves left listed load log lost love manage mark matches maybe meant merge \
    mention mentioned migrate miss missed missing modify monitor move moving nicer notice obvious ones opened optionally own paste pass perform pick \
    plan planning play prepare present prevent proceed produce proposed provide pull pulled push pushed quickly rebase recommend redo reduce refactor refer remain remember \
    rename rephrase reply report reproduce resolve respond rest restart resume revert rewrite save scan search seeing seen select send separate setup share shorter shouldn \
    simplify skip sound sounds split squash stay stop stopped submit suggest summarize support suppose switch talk test tested testing thinking \
    thought tidy told took touch track trigger tried undo unify upgrade useful validate verify view wait walk wanted watch wondering worry wouldn \
    aktualisiere ändere baue behebe beschreibe entferne ergänze erstelle erzeuge finde füge hinzu lies lösche migriere prüfe refaktoriere schreibe starte suche teste verbessere verschiebe zeige \
    ajoute ajouter change corrige corriger crée créer écris explique lis montre regarde supprime teste vérifie \
    agrega añade arregla borra busca cambia corrige crea elimina escribe explica haz lee mira prueba revisa \
    adicione altere apague corrija crie escreva explique faça leia procure remova teste verifique";

/// Articles and pronouns before a noun.
pub const DETERMINERS: &str = "the a an our its their your my this these those each";

/// Nouns and adjectives that name a subject only together with other words.
pub const LIGHT_NOUNS: &str = "\
    commits links link response responses input developer reviewer codebase pitfalls learnings side config configuration enhancement enhancements improvement improvements location diff base comparison scenario scenarios question questions edit edits proposal overview discussion guide thing things details scope approach \
    solution way ways problems info place places point points time times \
    git github draft latest pull branch branches case change changes check checks class code command commands comment comments commit content context data default description documentation env error errors example examples export fields file files flag flags function \
    functions handling help import information issue issues key keys line lines list lists log logs logic message messages method model module name names number object option options output package path \
    paths plan problem project prompt prompts push release repo repository request requests result results review script scripts search section server service session sessions setting settings setup state status step steps string strings support system task tasks test tests \
    text time title tool tools tracking type types update updates usage user users value values version versions view work workflow pr prs coverage lint readme changelog pull merge failing folder directory dir screenshot follow-up feedback findings summary report reports notes note todo phase bug bugs fixes implementation main master origin agent agents subagent subagents sub-agents md";

/// Words after which a clause begins.
pub const CONJUNCTIONS: &str =
    "that which who because but if when so then while where what how why and or since as until whether";

/// Subjects of a clause, before its verb.
pub const SUBJECTS: &str = "that which who we you it he she they this there";

/// Forms of *be* and *have* between a subject and what is said of it.
pub const COPULAS: &str = "is are was were has have had";

/// Words at the start of a question.
pub const QUESTIONS: &str =
    "what why how where which who does do did is are was were has have can what's whats how's where's why's no not without";

/// Verbs that begin a request, among the words that say nothing about its topic.
pub const REQUESTS: &str = "add change create fix implement include print remove replace update use write";

/// Pronouns of things that were named before.
pub const PRONOUNS: &str = "it they them these those one ones itself he she him it's they're they've";

/// Words at the start of a sentence of the agent about its next step.
pub const INTENTIONS: &str = "i'll i’ll let let's let’s now next first we'll i'm i’m i've i’ve good great";

/// Words without which a clause can end.
pub const TRAILERS: &str = "\
    please thanks now too also though then first again well ok and but so or if when that which to of for in on from with into by at the a an \
    be some any all wherever yes is are as here there already just will would can should";

/// Verbs of steps that say nothing about the subject.
pub const STEPS: &str = "\
    check look see verify run rerun re-run read explore start find understand view take continue do try resume commit push wait know think have get give show tell go make use ask help \
    how what why where when who are is was were be does did will based i i'm i’m that's that’s there's seems looks means still compact invoke respond focus focusing ensure clarify pull read \
    the a an this that it there of for in on from with into";

/// Words before the verb of a request.
pub const OPENINGS: &str = "\
    me i’ll i'm i’m going please can could would you lets let's let’s let us we we'll we're we’re i i'd i'll i've want to so ok okay hey hi now then and also need like should \
    just you'd yes yeah yep nice great cool good but well alright perfect thanks next first think maybe be am are actually currently tried try wanna gonna got have \
    sure it that which there still really focus focusing on not don't care about understanding or some hm hmm ensure make notice noticed";
