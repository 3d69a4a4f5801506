"""The example for Kubernetes: a service that restarts without a failed request, with as few rights as it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from postroom.settings import Settings
from postroom.version import VERSION
from tests.deploy.serve_command import DEPLOY, settings_of
from tests.deploy.test_container import value as of_image
from tests.deploy.test_container import variables as variables_of_image
from tests.http.running_service import serving

DATABASE = "postgresql://registry@db.example/registry"


def manifests() -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}


def pod() -> dict[str, Any]:
    found: dict[str, Any] = manifests()["Deployment"]["spec"]["template"]["spec"]
    return found


def container() -> dict[str, Any]:
    [found] = pod()["containers"]
    return dict(found)


def settings() -> Settings:
    given = {one["name"]: one.get("value", DATABASE) for one in container()["env"]}
    return settings_of(["postroom", *container()["args"]], {**variables_of_image(), **given})


def test_its_command_and_variables_are_those_of_serve() -> None:
    found = settings()
    assert found.access == "on"
    assert found.db == DATABASE
    assert container()["image"] == f"postroom:{VERSION}"


def test_the_address_of_the_database_is_a_secret() -> None:
    [db] = [one for one in container()["env"] if one["name"] == "POSTROOM_DB"]
    assert set(db["valueFrom"]) == {"secretKeyRef"}
    assert manifests().keys() == {"Deployment", "Service", "PodDisruptionBudget"}


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_probes_ask_what_answers_without_credentials_whatever_the_host_is(probe: str, tmp_path: Path) -> None:
    asked = container()[probe]["httpGet"]
    assert asked["port"] == "http"
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database, "--access", "on", POSTROOM_ALLOWED_HOSTS="registry.example") as (_, url):
        headers = {"Host": "10.1.2.3:8080"}
        assert httpx.get(f"{url}{asked['path']}", headers=headers).status_code == 200
        assert httpx.get(f"{url}/model", headers=headers).status_code == 421


def test_only_the_probe_for_readiness_depends_on_the_store() -> None:
    paths = {name: container()[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {"startupProbe": "/-/healthz", "livenessProbe": "/-/healthz", "readinessProbe": "/-/readyz"}


def test_a_pod_is_found_unready_before_it_stops_and_has_the_time_to_stop() -> None:
    ready = container()["readinessProbe"]
    found = settings()
    assert found.drain_s > ready["periodSeconds"] * ready["failureThreshold"] + ready["timeoutSeconds"]
    assert pod()["terminationGracePeriodSeconds"] >= found.drain_s + found.stop_timeout_s + 5


def test_a_new_release_takes_no_pod_away_before_there_is_another() -> None:
    spec = manifests()["Deployment"]["spec"]
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert spec["replicas"] > manifests()["PodDisruptionBudget"]["spec"]["minAvailable"] >= 1


def test_it_is_not_root_and_its_root_file_system_is_only_read() -> None:
    user, group = map(int, of_image("USER").split(":"))
    identity = pod()["securityContext"]
    assert (identity["runAsNonRoot"], identity["runAsUser"], identity["runAsGroup"]) == (True, user, group)
    rights = container()["securityContext"]
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert pod()["automountServiceAccountToken"] is False
    [mounted] = container()["volumeMounts"]
    assert mounted["mountPath"] == "/tmp"
    assert mounted["name"] in [volume["name"] for volume in pod()["volumes"]]


def test_the_service_and_the_budget_find_the_pods() -> None:
    found = manifests()
    spec = found["Deployment"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    [port] = container()["ports"]
    assert (port["name"], port["containerPort"]) == ("http", settings().port)
    assert [one["targetPort"] for one in found["Service"]["spec"]["ports"]] == [port["name"]]
