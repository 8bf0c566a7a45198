// Colours the cells %%cuda and %%exercise as C++ in JupyterLab, shows what a word means when a key reaches it, and gives
// charts time to load.
//
// JupyterLab loads an extension as a container of module federation: an object with `init`, which takes the modules
// that JupyterLab shares, and `get`, which gives the extension's own. It is written by hand here, so that softlab needs
// no node and no build.
(() => {
  const CUDA = /^%%(cuda|exercise)\b/;
  const CPLUSPLUS = 'text/x-c++src';
  // Words of the glossary: a browser shows a title to the mouse alone, so the focus shows it here.
  const WORDS = `
    .jp-RenderedHTMLCommon a.softlab-word {
      color: inherit;
      text-decoration: underline dotted var(--jp-ui-font-color2);
      text-underline-offset: 3px;
      cursor: help;
      position: relative;
    }
    .jp-RenderedHTMLCommon a.softlab-word:focus-visible::after {
      content: attr(title);
      position: absolute;
      left: 0;
      top: 1.6em;
      z-index: 10;
      width: max-content;
      max-width: 280px;
      padding: 4px 8px;
      border: 1px solid var(--jp-border-color1);
      background: var(--jp-layout-color1);
      color: var(--jp-content-font-color1);
      font-size: 13px;
      line-height: 18px;
    }`;
  // The file browser shows the lessons' names whole: on one line where the page has room for that, else on two.
  const NAMES = `
    .jp-DirListing-itemText { font-size: 12px; line-height: 1.2; white-space: normal; overflow-wrap: anywhere; }
    @media (min-width: 1200px) {
      #jp-left-stack { min-width: 310px !important; }
    }`;
  // anywidget gives a widget two seconds to load. After that the widget stays empty, and nothing says so. A chart of
  // plotly has 5 MB of code, which takes longer on a slow or busy computer.
  const SECONDS_OF_ANYWIDGET = 2, SECONDS_OF_A_SLOW_COMPUTER = 60;
  let scope = {};

  // The module that JupyterLab itself uses.
  async function shared(name) {
    const [version] = Object.values(scope[name]);
    return (await version.get())();
  }

  // Give a cell the language of its first line, now and whenever its text or the kernel's language changes.
  function follow(cell) {
    const { model } = cell;
    let usual = model.mimeType;
    const update = () => {
      if (model.mimeType !== CPLUSPLUS) usual = model.mimeType;
      const wanted = CUDA.test(model.sharedModel.getSource()) ? CPLUSPLUS : usual;
      if (model.mimeType !== wanted) model.mimeType = wanted;
    };
    // Later, because the editor has to hear of the kernel's language before it hears of this one.
    model.mimeTypeChanged.connect(() => setTimeout(update));
    model.sharedModel.changed.connect((_, change) => change.sourceChange && update());
    // An editor that is made later loads its languages in any order: it is told again once it is there.
    cell.ready.then(() => {
      if (model.mimeType === CPLUSPLUS) model.mimeType = usual;
      else update();
    });
  }

  function followNotebook(panel) {
    const seen = new WeakSet();
    const all = () => {
      for (const cell of panel.content.widgets) {
        if (!seen.has(cell) && cell.model.type === 'code') {
          seen.add(cell);
          follow(cell);
        }
      }
    };
    panel.revealed.then(() => {
      all();
      // The notebook makes the widget of a new cell when its model has changed.
      panel.content.model.cells.changed.connect(() => setTimeout(all));
    });
  }

  function waitForSlowWidgets() {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = milliseconds => timeout(
      milliseconds === SECONDS_OF_ANYWIDGET * 1000 ? SECONDS_OF_A_SLOW_COMPUTER * 1000 : milliseconds);
  }

  const container = {
    init: given => {
      scope = given;
    },
    get: async () => {
      const { INotebookTracker } = await shared('@jupyterlab/notebook');
      const plugin = {
        id: 'softlab-cuda:colours',
        description: 'Colours the cells %%cuda and %%exercise as C++, and gives charts time to load.',
        autoStart: true,
        // Voilà loads the extension, too, and has no notebooks to follow.
        optional: [INotebookTracker],
        activate: (app, tracker) => {
          waitForSlowWidgets();
          const style = document.createElement('style');
          style.textContent = WORDS + NAMES;
          document.head.append(style);
          // The panels have been measured without the style: measure those around the file browser again.
          app.restored?.then(() => [...(app.shell.widgets?.('left') ?? [])][0]?.parent?.fit());
          // The kernels' pages and the glossary are there to be read: a click opens them as pages, not as their source.
          app.restored?.then(() => {
            // The app of the explorers has a registry, too, but no preview.
            const registry = app.docRegistry, preview = 'Markdown Preview';
            if (registry?.getWidgetFactory(preview)) registry.setDefaultWidgetFactory('markdown', preview);
          });
          tracker?.forEach(followNotebook);
          tracker?.widgetAdded.connect((_, panel) => followNotebook(panel));
        }
      };
      return () => ({ __esModule: true, default: plugin });
    }
  };
  (window._JUPYTERLAB = window._JUPYTERLAB || {})['softlab-cuda'] = container;
})();
