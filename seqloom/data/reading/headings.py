"""The words by which tables call their columns, in several languages, and what each says about a column."""

import re
import unicodedata
from typing import Literal

Role = Literal["target", "source", "either", "language", "aside"]
"""What a name says: it is written; it is read; one of the two, as with `word`; a text in one of several languages; neither."""

_NAMES: dict[Role, str] = {
    # The most telling name first: of several targets, the first of these is meant.
    "target": """
        target tgt trg output y translation transliteration pronunciation pron ipa phonemes phoneme phones phonetic phonetics
        transcript transcription caption captions description summary headline answer answers response reply correction
        corrected normalised normalized plural inflected label labels gold class category sentiment intent emotion topic tag
        tags
        cible sortie traduction translittération prononciation phonèmes légende résumé réponse étiquette classe catégorie
        ziel ausgabe übersetzung umschrift aussprache lautschrift beschriftung beschreibung zusammenfassung antwort etikett
        klasse kategorie
        salida traducción transliteración pronunciación subtítulo descripción resumen respuesta etiqueta clase categoría
        saída tradução pronúncia legenda descrição resumo resposta rótulo categoria
        uscita traduzione pronuncia didascalia descrizione riassunto risposta etichetta
        перевод произношение транскрипция описание ответ метка класс категория
        翻訳 発音 読み 説明 答え 回答 ラベル 翻译 发音 拼音 描述 答案 标签 类别 अनुवाद उच्चारण उत्तर
        çeviri okunuş telaffuz cevap etiket ترجمة نطق جواب تصنيف vertaling uitspraak antwoord
    """,
    "source": """
        source src input x image images picture photo photograph img image_name image_path image_file file filename file_name
        file_path filepath path audio audio_file wav recording clip video video_file premise hypothesis question query context
        passage paragraph story tweet document article dialogue dialog utterance prompt history review comment message
        grapheme graphemes orthography spelling romanisation romanization romanised romanized
        entrée question fichier photo contexte graphie orthographe
        quelle eingabe frage datei bild foto aufnahme kontext schreibweise
        fuente entrada pregunta archivo imagen contexto ortografía
        fonte pergunta arquivo imagem domanda immagine contesto
        источник вопрос файл изображение
        質問 画像 问题 图像 图片 प्रश्न चित्र soru dosya سؤال صورة vraag bestand
    """,
    "either": """
        word words text texts sentence sentences phrase string line token term name title content native roman latin form lemma
        raw original
        mot mots texte phrase nom titre wort wörter satz sätze text begriff name palabra palabras texto frase oración nombre
        palavra parola testo слово слова текст предложение фраза 単語 文 文章 语句 句子 单词 词 文本 शब्द वाक्य kelime cümle metin
        كلمة جملة نص woord zin tekst
    """,
    "language": """
        english french german spanish italian portuguese dutch russian chinese japanese korean hindi tamil arabic turkish polish
        czech greek hebrew latin swedish danish norwegian finnish hungarian romanian bulgarian ukrainian georgian armenian
        vietnamese thai persian urdu bengali
        anglais français allemand espagnol italien portugais russe chinois japonais arabe
        englisch französisch deutsch spanisch italienisch portugiesisch russisch chinesisch japanisch arabisch
        inglés francés alemán español italiano portugués ruso chino japonés inglês francês alemão espanhol português
        английский французский немецкий русский испанский 英語 日本語 英语 中文 汉语 हिन्दी अंग्रेज़ी
        en fr de es it pt nl ru zh ja ko hi ta ar tr pl cs el eng fra fre deu ger spa ita por rus jpn kor hin tam ara
    """,
    "aside": """
        id ids idx index ix nr no num number key uid uuid guid rowid row qid pid # n nummer numéro número номер 番号 编号
        split fold set part subset speaker speaker_id annotator annotators user service domain genre lang language locale
        score scores relatedness similarity count counts freq frequency rank votes weight confidence seconds duration frames
        date time timestamp url link source_url attested langue sprache idioma язык
    """,
}
_RANKS = {role: {word: rank for rank, word in reversed([*enumerate(words.split())])} for role, words in _NAMES.items()}
_SUFFIXES: dict[str, Role] = {"id": "aside", "score": "aside", "label": "target", "text": "either", "file": "source"}
"""What the last part of a longer name says: `pair_id`, `entailment_label`."""
_NUMBERED = re.compile(r"(?<=[^\W\d_])_?([0-9]{1,2}|[ab])$")
"""What tells apart columns of one kind: `sentence1`, `text_b`."""


def tidied(heading: str) -> str:
    """A heading as it is looked up and as a source may be called: small letters, `_` between words."""
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFC", heading).casefold()).strip("_") or heading.strip()


def base_of(heading: str) -> str:
    """What columns share that are numbered: `sentence` of `sentence_A` and `Sentence 2`."""
    return _NUMBERED.sub("", tidied(heading))


def role_of(heading: str) -> Role | None:
    """What a heading says about its column; None for one that is not known."""
    name = tidied(heading)
    for spelled in (name, re.sub(r"_?(text|column|col)$", "", name), base_of(heading)):
        for role, ranks in _RANKS.items():
            if spelled in ranks:
                return role
    return _SUFFIXES.get(name.rpartition("_")[2]) if "_" in name else None


def target_rank(heading: str) -> int:
    """How telling the name of a target is: smaller is better."""
    ranks = _RANKS["target"]
    return ranks.get(tidied(heading), ranks.get(base_of(heading), len(ranks)))


def looks_like_a_name(cell: str) -> bool:
    """Whether a cell may be a heading: a few words without the marks of a sentence."""
    return bool(re.fullmatch(r"[^\W\d][\w]*([ _/.:#()-]{1,2}[\w]+){0,3}[)#]?", cell.strip())) and len(cell) <= 40
