// Starts `partita model lsp` for the files that are models.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const settings = vscode.workspace.getConfiguration("partita");
  const run = { command: settings.get("command"), args: ["model", "lsp"] };
  const documentSelector = [{ scheme: "file", pattern: settings.get("files") }];
  client = new LanguageClient("partita", "Partita models", { run, debug: run }, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Partita: cannot start "${settings.get("command")} model lsp": ${error.message}. Is it on the PATH? See the setting partita.command.`);
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
