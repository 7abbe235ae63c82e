// Keys for the editor's own commands that tests use on the way: to run one in the palette takes ten times the work.

/** Ids of the commands by their titles in the palette. */
const COMMANDS = {
  "File: Revert File": "workbench.action.files.revert",
  "File: Save All Files": "workbench.action.files.saveFiles",
  "Notifications: Clear All Notifications": "notifications.clearAll",
  "Problems: Focus on Problems View": "workbench.panel.markers.view.focus",
  "View: Close All Editors": "workbench.action.closeAllEditors",
  "View: Close Editor": "workbench.action.closeActiveEditor",
  "View: Hide Panel": "workbench.action.closePanel",
  "View: Toggle Primary Side Bar Visibility": "workbench.action.toggleSidebarVisibility",
};

const key = (index) => `Control+Alt+Shift+F${index + 1}`;

/** @type {Map<string, string>} keys by the titles of their commands */
export const KEYS = new Map(Object.keys(COMMANDS).map((title, index) => [title, key(index)]));

/** The user's keybindings, for the editor. */
export const keybindings = Object.values(COMMANDS).map((command, index) => {
  return { command, key: key(index).replace("Control", "ctrl").toLowerCase() };
});
