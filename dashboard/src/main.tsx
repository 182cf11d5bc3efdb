// Mounts the dashboard in the page.
import { render } from 'preact';
import { shareKey } from './api/key.ts';
import { takeKeyFromAddress } from './api/signed-in-link.ts';
import { App } from './app.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/components.css';
import './styles/messages.css';
import './jobs/jobs.css';
import './keys/keys.css';
import './home/home.css';
import './tokens/tones.css';
import './groups/groups.css';
import './episodes/episodes.css';
import './trajectories/trajectories.css';
import './evaluations/evaluations.css';
import './data/data.css';
import './playground/playground.css';
import './runs/runs.css';

takeKeyFromAddress();
shareKey();
addEventListener('hashchange', takeKeyFromAddress); // the link was opened in a tab of this page
render(<App />, document.getElementById('app')!);
