"""Training of language agents on meta-episodes: TRL's GRPO, with credit across episodes and advantages by opponent."""
