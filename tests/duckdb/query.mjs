// Runs SQL of standard input, one statement a line, and prints the rows of each as a line of JSON.
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
const connection = await instance.connect();
for (const statement of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const answer = await connection.runAndReadAll(statement);
  console.log(JSON.stringify(answer.getRowObjectsJson()));
}
