"""All texts of the pages, in English. A translation is another module with these names."""

product = "Postroom"
skip = "Skip to content"
language = "en"

# Navigation
nav = "Main"
NAVIGATION = (
    ("/", "Catalog"),
    ("/-/graph", "Graph"),
    ("/-/fields", "Fields"),
    ("/-/try", "Try it"),
    ("/-/changes", "Changes"),
    ("/-/model", "Model"),
)
"""Pages that every page leads to, by their paths."""
NAVIGATION_LAKE = ("/-/lake", "Lake")
"""Where the service has one."""
breadcrumb = "You are here"
home = "Registry"
json_twin = "This page as JSON"
footer_api = "API"

# Home
home_title = "What is on your channels"
home_lead = "Messages, their payloads, and the endpoints that carry them."
home_recent = "Lately"
home_dying = "Dying now"
home_dying_show = "Show what died last"
home_nothing_dying = "Nothing: everything that came landed."
home_all = "All {count:,}"
home_empty = "Nothing is described here yet"
home_empty_lead = "A catalog says which messages there are, what is in them, and where they go. Load one:"
home_empty_demo = "The demonstration catalog of the source tree"
home_empty_file = "A file of your own: xRegistry, CloudEvents, in any dialect"
home_empty_other = "Everything that another registry has"
home_empty_after = "Then reload this page."
nothing_recent = "Nothing has changed yet."
changed_by = "by {actor}"
and_more = "and {count:,} more"

ACTIONS = {"created": "created", "updated": "changed", "deleted": "deleted", "deprecation": "deprecated"}
NOUNS = {
    "messagegroups": ("message group", "message groups"),
    "schemagroups": ("schema group", "schema groups"),
    "endpoints": ("endpoint", "endpoints"),
    "messages": ("message", "messages"),
    "schemas": ("schema", "schemas"),
    "versions": ("version", "versions"),
}
"""Names of types that people know; others are shown as the model has them."""


def noun(plural: str, count: int = 2) -> str:
    """The name of a collection, or of one of its members."""
    one, many = NOUNS.get(plural, (plural, plural))
    return one if count == 1 else many


def counted(plural: str, count: int) -> str:
    """How many members a collection has."""
    return f"{count:,} {noun(plural, count)}"


# Entities
collection_empty = "There are none yet."
collection_empty_write = "They are written by the API, or loaded from a file:"
next_page = "Next page"
first_page = "First page"
more_attributes = "More attributes"
documentation = "Documentation"
labels = "Labels"
modified = "Changed"
created = "Created"
version = "Version"
deprecated = "Deprecated"
deprecated_since = "since"
deprecated_removal = "to be removed"
deprecated_alternative = "Use instead:"
facts = "Facts"
description = "Description"

# Groups
group_endpoints = "Endpoints that carry it"
group_no_endpoints = "No endpoint names this group."
endpoint_groups = "Message groups it carries"
endpoint_no_groups = "It names no message group, and carries only the messages it owns."
endpoint_addresses = "Where it is"
endpoint_usage = "Used by"
group_missing = "not in this catalog, or not yours to see"
USAGES = {"producer": "producers", "consumer": "consumers", "subscriber": "subscribers"}

# Definitions
words_event = "A CloudEvent{type}"
words_message = "A message{type}"
words_type = " of type {type}"
words_protocol = " sent over {protocol}"
words_any = " for any protocol"
words_content = ", with a payload of {type}."
words_media = " as {type}"
words_schema = ", whose payload follows a schema in {format}{media}."
definition_demands = "What it demands"
envelope_attributes = "Envelope attributes"
protocol_properties = "Protocol properties"
column_name = "Name"
column_value = "Value"
column_type = "Type"
column_needed = "Needed"
column_says = "Who says so"
needed = "required"
optional = "optional"
says_itself = "this definition"
implied_by = "follows from {name}"
said_by_cloudevents = "CloudEvents"
any_value = "any"
placeholder_title = "A placeholder: whatever is there is bound to the variable {name}"
never_decides = "Never compared, because brokers rewrite it."
constraints_more = "{count:,} more are not shown here; the JSON has them all."
no_constraints = "It demands nothing of envelope and protocol."
payload = "Payload"
payload_none = "It has no payload schema: any payload fits."
payload_missing = "Its schema {reference} cannot be shown: {reason}."
payload_tree = "Members"
payload_text = "As written"
payload_more = "{count:,} more members are not shown here."
payload_no_members = "The members of this schema cannot be listed; its text says what it is."
payload_is = "Its schema is"
member = "Member"
one_of = "one of"
refused = "This definition cannot be used"
carriers = "Endpoints that carry it"
no_carriers = "No endpoint names its group."
derived = "Definitions that derive from it"
bases = "Derives from"
findings = "Findings of lint"
SEVERITIES = {"error": "Error", "warning": "Warning", "info": "Remark"}
history = "History"

# Schemas
schema_users = "Messages that use it"
schema_no_users = "No message of this catalog refers to it."
schema_document = "The document itself"
schema_versions = "Versions"
schema_no_document = "There is no document of this schema here."

# Problems
problem_other = "This did not work"
problem_other_advice = (
    "Try again in a moment. If it stays like this, tell whoever runs this service, with the number below."
)
problem_use_key = (
    "This registry lets nobody in without a key. Your browser asks for one: the user is the id of the key, "
    "the password its secret. Whoever administers the registry makes keys with `postroom keys create`."
)
problem_sign_in = "Sign in"
problem_home = "To the first page"
problem_number = "Number of this problem in the log"
PROBLEM_HEADINGS = {
    401: "Please sign in",
    403: "That is not yours to do",
    404: "There is nothing here",
    405: "That cannot be done here",
    413: "That is too much at once",
    429: "Too many requests",
    503: "Not available right now",
}
PROBLEM_ADVICE = {
    400: "Look at the address: something in it is not as it has to be.",
    401: "You can read and do what somebody granted to you, once you have signed in.",
    403: "Whoever owns that part of the registry, or an administrator, can grant it to you.",
    404: "It may have been deleted or renamed, or you may not see it. Look for it from the first page on.",
    405: "This page can only be read.",
    413: "Send less, or in several pieces.",
    429: "Wait a little, then try again.",
    503: "Wait a little, then try again. Nothing was lost.",
}

# Copying
copy = "Copy"
copied = "Copied"

# Examples
example = "Example"
example_of = "Example of {name}"
example_lead = "Make an example message"
example_make = "Make"
example_another = "Another one"
protocol = "Protocol"
mode = "Mode"
SNIPPETS = {
    "Record": "As a record",
    "curl": "Send it with curl",
    "kcat": "Send it with kcat",
    "mosquitto_pub": "Send it with mosquitto_pub",
    "nats": "Send it with nats",
    "match": "Ask which definition it fits",
    "Python": "Make one like it in Python",
}

# History
history_of = "History of {xid}"
history_lead = "Show what changed from state to state"
history_single = "It is as it was written first."
history_from = "From"
history_to = "to"
history_compare = "Compare"
history_same = "These are the same state."
history_nothing = "Nothing that anybody would notice."
PROOFS = {
    "producers": "A message that fitted before and does not fit now",
    "consumers": "A message that fits now and did not fit before",
}

# Search
search = "Search"
search_hint = "Search messages, schemas, fields …"
search_title = "Search: {q}"
search_total = "{count:,} found"
search_many = "More than {count:,} found; say more to find the right one"
search_nothing = (
    "Nothing has all of these words. Fewer words, or their beginnings, find more; quotes keep words together."
)
search_fields = "Look in the fields of payloads instead"
search_member = "payload"
FACETS = {
    "kind": "Kind",
    "group": "Group",
    "format": "Format",
    "envelope": "Envelope",
    "protocol": "Protocol",
}

# Fields
fields = "Fields of payloads"
fields_lead = "Every member of every payload schema: what it is, and where it is used."
fields_words = "Containing"
fields_shared = "shared by several schemas"
fields_show = "Show"
fields_schemas = "Schemas"
fields_messages = "Messages"
fields_differ = "not the same everywhere"
fields_none = "No payload schema has such a field."

# Try it
try_it = "Try it"
try_lead = "Paste messages, and see which definition each of them fits, or what is wrong with it. Nothing is stored."
try_label = "Messages: records, CloudEvents, a curl command, or a payload; one, a list, or one on each line"
try_drop = "A file can be dropped here, too."
try_go = "See what becomes of them"
try_more_by_command = "For more than {count:,} messages, or for programs:"
try_fitting = "As a payload it fits these definitions:"
try_suggestion = "Make it fit"
try_suggestion_lead = "This one fits. Change it as you like, and try it."
try_suggestion_go = "Try this one"
try_missing = "is not there"
try_unchecked = "The payload was not checked: {reason}"
try_message = "Message {number}"
OUTCOMES = {
    "landed": "landed",
    "invalid": "invalid",
    "ambiguous": "ambiguous",
    "unmatched": "unmatched",
    "malformed": "malformed",
}
OUTCOME_CLASSES = {"landed": "good", "invalid": "bad", "ambiguous": "warn", "unmatched": "warn", "malformed": "bad"}
SECTIONS = {"envelope": "Envelope", "protocol": "Protocol", "payload": "Payload"}

# Comparing schemas
compare_of = "Compare {name}"
compare_lead = "Can payloads that one of them describes be read with the other? Nothing is stored."
compare_version = "Stored version"
compare_other = "with version"
compare_pasted = "the text below"
compare_text = "Another text of the schema"
compare_go = "Compare"
compare_link = "Compare with another text or version"
DIRECTIONS = {
    "backward": "Payloads of the stored version, read with the other",
    "forward": "Payloads of the other, read with the stored version",
}
VERDICTS = {
    "compatible": ("good", "can be read"),
    "incompatible": ("bad", "cannot be read"),
    "undecided": ("warn", "nobody can say"),
}
compare_example = "For example"

# Changes
section_nav = "In this section"
CHANGES_TABS = (("/-/changes", "Log"), ("/-/subscriptions", "Subscriptions and links"))
changes = "Changes"
changes_of = "Of"
changes_all = "Show all"
changes_live = "New changes show as they happen."
changes_values_of = "Values of {xid}"
changes_old = "Before"
changes_new = "After"
changes_older = "Older"
changes_newest = "Newest"
history_changes = "All changes with their values"
ACTION_CLASSES = {"created": "good", "updated": "", "deleted": "bad", "deprecation": "warn"}

# Subscriptions and links
subscriptions = "Subscriptions"
subscriptions_none = "Nobody is told of changes yet. A subscription sends them as CloudEvents:"
subscription_document = "The subscription"
delivered = "{count:,} delivered"
attempts = "tried {count:,} times"
DELIVERIES = {
    "unconfirmed": "not agreed to yet",
    "active": "delivering",
    "retrying": "trying again",
    "dead": "stopped",
    "ended": "ended by the sink",
}
DELIVERY_CLASSES = {"unconfirmed": "warn", "active": "good", "retrying": "warn", "dead": "bad", "ended": ""}
replicas = "Links with other catalogs"
replicas_none = "This catalog is copied neither from nor to another one by a link."
resyncs = "begun anew {count:,} times"

# Account
account = "Account"
access_off = "Access is off: everybody who reaches this service may read and change everything."
access_off_remedy = "`postroom serve --access on` lets in only whom somebody has granted something."
account_named = "You are {name}."
account_nobody = "You are nobody in particular."
account_admin = "You administer this registry."
sign_out = "Sign out"
ROLES = {"read": "May read", "write": "May write", "own": "May let others use"}
role_nothing = "nothing"
sessions = "Sessions of browsers"
grants = "Grants"
keys = "Keys"
keys_by_command = "Keys are made by a command or by the API, which shows their secret once:"
audit = "At the doors"
column_principal = "Who"
column_since = "Since"
column_until = "Until"
column_role = "Role"
column_prefix = "On"
column_key = "Key"
column_status = "State"
column_expires = "Expires"
column_when = "When"
column_event = "What"
column_detail = "Detail"

# Model, settings, API
MODEL_TABS = (("/-/model", "Model and capabilities"), ("/-/settings", "Settings"), ("/-/api", "API"))
model = "Model"
model_lead = "Which types of groups and resources the registry has, and which attributes they may have."
MODEL_SECTIONS = {
    "attributes": "Attributes",
    "resourceattributes": "Attributes of the resource",
    "metaattributes": "Attributes of its meta",
}
model_of = "of"
model_readonly = "set by the registry"
capabilities = "Capabilities"
capabilities_lead = "What the registry does at present; clients that may can change it."
settings_title = "Settings"
settings_lead = "What the service was started with: flags, variables, and postroom.toml."
settings_empty = "empty"
settings_changed = "set"
api = "API"
api_lead = "All operations of this registry, by its model. Those that read can be tried here."
api_try = "Ask"

# The lake
LAKE_TABS = (("/-/lake", "Tables"), ("/-/lake/dead", "Dead letters"), ("/-/lake/ledger", "Ledger"))
lake = "Lake"
lake_balance = "What was read is what landed and what is dead"
lake_read = "read"
lake_landed = "landed"
lake_dead = "dead"
lake_unbalanced = "These numbers do not add up. `postroom tables --check` says where."
lake_in_flight = "{count:,} commits are under way."
lake_tables = "Tables"
lake_table = "Table"
lake_definition = "Definition"
lake_version = "version {version}"
lake_rows = "Rows"
lake_rows_of = "{count:,} rows"
lake_fresh = "Last rows"
lake_sql_name = "In SQL"
lake_sample = "Some rows"
lake_no_rows = "It has no rows."
lake_columns = "Columns"
lake_query = "The same in a terminal, or any other question:"
lake_command = "The same in a terminal:"
lake_empty = "Nothing has landed here yet. Sort something into it:"
lake_lands_in = "Lands in"
lake_show = "Show its tables"
lake_nothing_landed = "Nothing of it has landed yet."
lake_unreadable = "This lake cannot be shown"
lake_unreadable_advice = "The pages themselves need nothing for it. Reload this one when that is mended."
lake_ledger = "Ledger"
lake_streams = "Running streams"
lake_behind = "To do"
lake_nothing_behind = "nothing"
lake_running_since = "Running since"
lake_heard = "Last heard of"
lake_away = "away"
lake_sources = "Sources"
lake_source = "Source"
lake_rate = "A second"
lake_last_batch = "Last batch"
lake_batches = "Batches"
lake_kind = "Kind"
lake_seconds = "Seconds"
lake_no_batches = "No batch is in the ledger yet."
lake_check = "Whether the tables really hold what the ledger says:"
lake_bar = "{count:,} from {time} on"

# Dead letters
dead_letters = "Dead letters"
dead_all = "all"
dead_none = "There are none of this kind: everything that came landed."
dead_count = "{count:,} letters"
dead_chart = "Letters over time: {code}"
dead_first = "First"
dead_last = "last"
dead_concerned = "Definitions concerned"
dead_sample = "One of them"
dead_from = "From {source}, at {position:,}"
dead_now = "What would land now?"
dead_all_now = "What would land now, of all?"
dead_now_lead = "Judges them by the present catalog. Nothing is written."

# What would land now
trial = "What would land now"
trial_lead = "Dead letters judged by the present catalog, in a process of its own. Nothing in the lake is changed."
trial_of = "Only"
trial_go = "Judge them"
trial_again = "Judge them again"
trial_running = "Being judged since"
trial_look = "Look again"
trial_cancel = "Stop it"
trial_cancelled = "It was stopped."
trial_lost = "The process that judged them is gone. Start it again."
trial_too_long = "It took longer than ten minutes, and was stopped. Run the command in a terminal, without a limit."
trial_letters = "letters judged"
trial_would_land = "would land"
trial_would_stay = "would stay dead"
trial_finished = "Judged"
trial_command = "To let them land, run this where the lake is:"

# The graph
graph = "Graph"
graph_lead = "From endpoints by way of groups and messages to schemas, and to tables of a lake. A plus unfolds a group."
graph_around = "Around"
graph_whole = "Show all"
graph_find = "Find in it"
graph_find_go = "Find"
graph_picture = "Graph of the catalog"
graph_list = "The same as a list"
graph_more = "{count:,} more are not shown here. Choose one of these to see what is around it."
graph_empty = "There is nothing to connect yet. Load a catalog:"
graph_unfold = "Unfold {name}"
graph_fold = "Fold {name}"
graph_show = "Show in the graph"
GRAPH_COLUMNS = ("Endpoints", "Groups", "Messages", "Schemas", "Tables")
GRAPH_NOUNS = ("endpoint", "group", "message", "schema", "table")
