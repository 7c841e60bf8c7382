-- Lists by reward: without it every page reads the reward of each trajectory, behind its prompt and its tools.
CREATE INDEX trajectories_by_reward ON trajectories (reward, n) WHERE deleted_at IS NULL;
