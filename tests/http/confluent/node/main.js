// The client and the serializers of Confluent for JavaScript, against the registry in the first argument.
const {
  SchemaRegistryClient, AvroSerializer, AvroDeserializer, JsonSerializer, JsonDeserializer, SerdeType,
} = require("@confluentinc/schemaregistry");

const record = (name, ...fields) => JSON.stringify({ type: "record", name, fields });
const string = (name) => ({ name, type: "string" });

async function main() {
  const [url, topic] = process.argv.slice(2);
  const client = new SchemaRegistryClient({ baseURLs: [url] });
  const avro = new AvroSerializer(client, SerdeType.VALUE, { useLatestVersion: true });
  const reader = new AvroDeserializer(client, SerdeType.VALUE, {});
  const subject = `${topic}-value`;
  const oven = { schema: record("Oven", string("id")), schemaType: "AVRO" };
  const hot = { ...oven, schema: record("Oven", string("id"), { name: "heat", type: "int", default: 180 }) };

  const first = await client.register(subject, oven);
  const second = await client.register(subject, hot);
  console.log("versions", await client.getAllVersions(subject), first !== second);
  console.log("lookup", (await client.getId(subject, oven)) === first);
  console.log("latest", (await client.getLatestSchemaMetadata(subject)).id === second);
  console.log("compatible", await client.testSubjectCompatibility(subject, { ...oven, schema: '"string"' }));
  await client.updateCompatibility(subject, "NONE");
  console.log("level", await client.getCompatibility(subject));
  const bytes = await avro.serialize(topic, { id: "a", heat: 250 });
  console.log("avro", bytes.readInt32BE(1) === second, JSON.stringify(await reader.deserialize(topic, bytes)));

  await client.register(`${topic}-locks`, { schema: record("Lock", string("bolt")), schemaType: "AVRO" });
  await client.register(`${topic}-doors-value`, {
    schema: record("Door", { name: "lock", type: "Lock" }),
    schemaType: "AVRO",
    references: [{ name: "Lock", subject: `${topic}-locks`, version: 1 }],
  });
  const door = await avro.serialize(`${topic}-doors`, { lock: { bolt: "steel" } });
  console.log("reference", JSON.stringify(await reader.deserialize(`${topic}-doors`, door)));

  const tray = { title: "Tray", type: "object", properties: { loaves: { type: "integer" } } };
  await client.register(`${topic}-trays-value`, { schema: JSON.stringify(tray), schemaType: "JSON" });
  const json = new JsonSerializer(client, SerdeType.VALUE, { useLatestVersion: true, validate: true });
  const loaves = await json.serialize(`${topic}-trays`, { loaves: 12 });
  const parsed = await new JsonDeserializer(client, SerdeType.VALUE, {}).deserialize(`${topic}-trays`, loaves);
  console.log("json", JSON.stringify(parsed));
  const wrong = json.serialize(`${topic}-trays`, { loaves: "many" });
  console.log("wrong", await wrong.then(() => "accepted", () => "refused"));

  console.log("unknown", await client.getAllVersions("nothing").catch((error) => [error.status, error.errorCode]));
  console.log("deleted", await client.deleteSubject(subject), await client.deleteSubject(subject, true));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
