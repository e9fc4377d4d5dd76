"""Croissant 1.1 metadata with the eight responsible-AI fields that NeurIPS requires.

Source: Croissant Format Specification 1.1; Croissant RAI Specification 1.0; W3C PROV-O.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim.exports.publish.parquet import BOX_FIELDS, FIELDS, element_of
from uavsim.exports.publish.statements import Statements
from uavsim.typing import JsonDict

_KEYWORDS: Final = ("3D object detection", "tracking", "nuScenes format")
_SYNTHETIC_KEYWORDS: Final = ("multi-drone perception", "synthetic")
_CONTEXT: Final[JsonDict] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the pack: name, size and hash."""

    name: str
    size_bytes: int
    sha256: str


def croissant(
    *,
    name: str,
    statements: Statements,
    licence_url: str,
    creator: str,
    date: str,
    url: str,
    splits: Mapping[str, Sequence[PackedFile]],
    others: Sequence[PackedFile],
) -> JsonDict:
    """Return the metadata as JSON-LD.

    Args:
        name: name of the dataset.
        statements: texts of the responsible-AI fields.
        licence_url: address of the licence.
        creator: person or organisation.
        date: date of publication, ISO 8601.
        url: future address of the dataset.
        splits: Parquet files by split.
        others: tar files and their index.
    """
    distribution = [_file(file, "application/x-parquet") for files in splits.values() for file in files]
    distribution += [_file(file, "text/csv" if file.name.endswith(".csv") else "application/x-tar") for file in others]
    distribution += [
        {
            "@type": "cr:FileSet",
            "@id": f"parquet-{split}",
            "name": f"parquet-{split}",
            "description": f"Parquet files of the split {split}.",
            "encodingFormat": "application/x-parquet",
            "includes": f"data/{split}-*.parquet",
        }
        for split in splits
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": name,
        "description": statements.description,
        "url": url,
        "license": licence_url,
        "creator": {"@type": "sc:Organization", "name": creator},
        "datePublished": date,
        "version": "1.0.0",
        "keywords": [*_KEYWORDS, *(_SYNTHETIC_KEYWORDS if statements.synthetic else ())],
        "citeAs": f"@misc{{{name}, title={{{name}}}, author={{{creator}}}, year={{{date[:4]}}}, url={{{url}}}}}",
        "isLiveDataset": False,
        "rai:dataLimitations": statements.limitations,
        "rai:dataBiases": statements.biases,
        "rai:personalSensitiveInformation": statements.personal_information,
        "rai:dataUseCases": statements.uses,
        "rai:dataSocialImpact": statements.social_impact,
        "rai:hasSyntheticData": statements.synthetic,
        "prov:wasDerivedFrom": [{"@id": source} for source in statements.derived_from],
        "prov:wasGeneratedBy": [
            {
                "@type": "prov:Activity",
                "prov:type": {"@id": "https://www.wikidata.org/wiki/Q925667"},
                "prov:label": label,
                "sc:description": text,
            }
            for label, text in statements.generated_by
        ],
        "distribution": distribution,
        "recordSet": [_record_set(split) for split in splits],
    }


def _file(file: PackedFile, kind: str) -> JsonDict:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": Path(file.name).name,
        "contentUrl": file.name,
        "contentSize": f"{file.size_bytes} B",
        "encodingFormat": kind,
        "sha256": file.sha256,
    }


def _record_set(split: str) -> JsonDict:
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": "A record is one camera image of one sample, with the boxes that it shows.",
        "field": [_field(split, column, kind, text) for column, (kind, text) in FIELDS.items()],
    }


def _field(split: str, column: str, kind: Any, text: str) -> JsonDict:
    source: JsonDict = {"fileSet": {"@id": f"parquet-{split}"}, "extract": {"column": column}}
    field: JsonDict = {"@type": "cr:Field", "@id": f"{split}/{column}", "name": column, "description": text}
    if column in {"image", "mask"}:
        return field | {"dataType": "sc:ImageObject", "source": source | {"transform": {"jsonPath": "bytes"}}}
    if column == "objects":
        return field | {"repeated": True, "subField": [_box_field(split, name, *of) for name, of in BOX_FIELDS.items()]}
    return field | {"dataType": _data_type(kind), "source": source} | _shape(kind)


def _box_field(split: str, name: str, kind: Any, text: str) -> JsonDict:
    return {
        "@type": "cr:Field",
        "@id": f"{split}/objects/{name}",
        "name": name,
        "description": text,
        "dataType": _data_type(kind),
        "source": {
            "fileSet": {"@id": f"parquet-{split}"},
            "extract": {"column": "objects"},
            "transform": {"jsonPath": f"$[*].{name}"},
        },
    } | _shape(kind)


def _data_type(kind: Any) -> str:
    return {"string": "sc:Text", "int64": "sc:Integer"}.get(element_of(kind)[0], "sc:Float")


def _shape(kind: Any) -> JsonDict:
    depth = element_of(kind)[1]
    return {"isArray": True, "arrayShape": ", ".join(["-1"] * depth)} if depth else {}
