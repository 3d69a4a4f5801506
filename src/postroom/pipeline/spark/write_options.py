"""The options of `df.write.format("postroom")`, and the batch that they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from postroom.errors import BadFlag
from postroom.pipeline.sources.dataframe import check_key, holds_records
from postroom.pipeline.storage.open_storage import open_storage
from postroom.pipeline.storage.options import parse_options

if TYPE_CHECKING:
    from postroom.pipeline.batch_spec import Job
    from postroom.pipeline.storage.interface import Storage

# As people write them; Spark does not mind the case.
OPTIONS = ("catalog", "lake", "source", "nulls", "endpoint", "partitionByDate", "recordId")
CHOICES = {"nulls": ("strict", "absent"), "partitionbydate": ("true", "false")}


def check_options(options: Mapping[str, str]) -> None:
    """Refuse what nobody would act on."""
    known = {name.lower(): name for name in OPTIONS}
    for name, value in options.items():
        option = name.lower()
        if option not in known and option != "path":  # what .save(…) was given
            near = get_close_matches(option, known, n=1)
            hint = f"Did you mean {known[near[0]]!r}?" if near else f"There are {', '.join(OPTIONS)}."
            raise BadFlag(f'the format "postroom" has no option {name!r}.', remedy=hint)
        if value.lower() not in CHOICES.get(option, (value.lower(),)):
            raise BadFlag(f"the option {known[option]!r} is {' or '.join(CHOICES[option])}, not {value!r}.")


def lake_of(options: Mapping[str, str]) -> str:
    """The lake that is written to: the option, or what `.save(…)` was given."""
    option, path = options.get("lake", ""), options.get("path", "")
    if option and path and open_storage(option, "a lake") != open_storage(path, "a lake"):
        raise BadFlag(f"there are two lakes: the option says {option} and save(…) says {path}.")
    return option or path


def job_of(options: Mapping[str, str], types: Mapping[str, str]) -> tuple[Job, Storage]:
    """The batch that options ask for, for a DataFrame with columns of these types; every write is a new run.

    What opens an object store is in the settings and the environment of the driver, since options of Spark are shown.
    """
    from postroom.pipeline.batch_sorter import Sorter, finish_commits
    from postroom.pipeline.catalog_reload import CatalogWatch
    from postroom.pipeline.checkpoint import new_run
    from postroom.pipeline.lake.lake import create_lake
    from postroom.settings import load_settings

    check_options(options)
    folder = lake_of(options)
    missing = [name for name, value in (("catalog", options.get("catalog")), ("lake", folder)) if not value]
    if missing:
        raise BadFlag(f'the format "postroom" needs the option {missing[0]!r}.')
    if not holds_records(set(types)):
        raise BadFlag(f"this DataFrame holds no records: its columns are {', '.join(types)}.")
    if options.get("recordId"):
        check_key(options["recordId"], types)
    settings = load_settings()
    storage_options = parse_options(settings.storage)
    open_storage(folder, "a lake", storage_options)
    watch = CatalogWatch(options["catalog"], settings, options.get("endpoint", ""))
    lake = create_lake(folder, storage_options)
    finish_commits(lake)
    by_date = options.get("partitionByDate", "").lower() == "true"
    nulls = options.get("nulls", "").lower()
    return Sorter(lake, watch, nulls=nulls, partition_by_date=by_date).job(new_run(), 0), lake.storage
