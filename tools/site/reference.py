"""The reference pages of the site, from what the program says of itself (grapevine manual --json)."""
import html
import json
import re
import subprocess

# What is registered, by the setting that names it: the title of its page, and the page that says more.
KINDS = {
    "algorithm": ("Algorithms", "docs/algorithms.md"),
    "data": ("Data sets", "docs/data.md"),
    "mixing": ("Mixing weights", "docs/topologies.md#mixing-weights"),
    "model": ("Models and objectives", "docs/your-own-model.md"),
    "network": ("Simulated networks", "docs/networks.md"),
    "optimizer": ("Optimizers", "docs/optimizers.md"),
    "schedule": ("Learning-rate schedules", "docs/large-batches.md"),
    "topology": ("Topologies", "docs/topologies.md"),
}


def described(program):
    """What the program at this path prints about itself."""
    ended = subprocess.run([program, "manual", "--json"], capture_output=True, text=True,
                           timeout=60, check=True)
    return json.loads(ended.stdout)


def entry(anchor, typed, text):
    """A term that can be linked to, and what it means, as HTML."""
    return (f'<dt id="{anchor}"><code>{html.escape(typed)}</code>'
            f'<a class="headerlink" href="#{anchor}" title="Permanent link">&para;</a></dt>\n'
            f"<dd>{text}</dd>\n")


def entries(parts):
    return '<dl class="names docutils">\n' + "".join(parts) + "</dl>\n"


def typed(flag):
    """How a flag is written: "-n, --nodes=N"."""
    value = flag.get("placeholder", "")
    between = "=" if flag["names"][-1].startswith("--") else " "
    return ", ".join(flag["names"]) + (between + value if value else "")


def anchor(flag):
    """Of the longest name, which is what people type."""
    return max(flag["names"], key=len).strip("-").lower()


def prose(text):
    """A line of help as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def meaning(flag, registered):
    text = prose(flag.get("help", ""))
    if "default" in flag:
        text += f" [<code>{html.escape(flag['default'])}</code>]"
    if flag.get("required"):
        text += " (required)"
    kind = anchor(flag)
    if kind in registered:
        text += f' <a href="../names/{kind}.html">{KINDS[kind][0]}, one by one</a>'
    return text


def flag_entries(flags, registered):
    return entries(entry(anchor(flag), typed(flag), meaning(flag, registered)) for flag in flags)


def groups(flags):
    """Flags by the heading that they have in the help, in its order."""
    found = {}
    for flag in flags:
        found.setdefault(flag.get("group", "Options"), []).append(flag)
    return found


def argument(flag):
    name = flag["names"][0] + ("..." if flag.get("repeated") else "")
    return name if flag.get("required") else f"[{name}]"


def command_page(name, command, registered):
    arguments = command.get("arguments", [])
    synopsis = [name, "[OPTIONS]"] + [argument(each) for each in arguments]
    synopsis += ["COMMAND"] if command.get("commands") else []
    page = [f"# {name}\n", command.get("help", "").capitalize() + ".\n",
            f"```text\n{' '.join(synopsis)}\n```\n"]
    if command.get("commands"):
        page += ["## Commands\n"] + [f"- [{name} {inner['name']}](commands/{inner['name']}.md): "
                                     f"{inner['help']}" for inner in command["commands"]] + [""]
    if arguments:
        page += ["## Arguments\n", entries(
            entry(each["names"][0].lower(), argument(each), prose(each.get("help", "")))
            for each in arguments)]
    for group, flags in groups(command.get("flags", [])).items():
        page += [f"## {group}\n", flag_entries(flags, registered)]
    if command.get("footer"):
        page += ["## Notes\n", f"```text\n{command['footer'].strip()}\n```\n"]
    return "\n".join(page)


def names_page(kind, listings):
    title, more = KINDS[kind]
    flag = f"--{kind}"
    return "\n".join([
        f"# {title}\n",
        f"What `{flag}=` may name: the name, then options, which may be left out where they are in "
        f"brackets. [More about them](../../{more}).\n",
        entries(entry(listing["name"], listing["name"] + listing.get("options", ""),
                      prose(listing.get("help", ""))) for listing in listings)])


def pages(program):
    """{path: Markdown} of the reference, and its part of the navigation."""
    reference = described(program)
    registered = reference["registered"]
    missing = sorted(set(registered) ^ set(KINDS))
    if missing:
        raise KeyError(f"tools/site/reference.py and the program differ in what is registered: {missing}")
    name = reference["name"]
    texts = {f"reference/{name}.md": command_page(name, reference, registered)}
    for command in reference["commands"]:
        texts[f"reference/commands/{command['name']}.md"] = command_page(
            f"{name} {command['name']}", command, registered)
    commands = list(texts)
    for kind, listings in registered.items():
        texts[f"reference/names/{kind}.md"] = names_page(kind, listings)
    names = [path for path in texts if path not in commands]
    return texts, [{"Commands": commands}, {"Names in settings": names}]
