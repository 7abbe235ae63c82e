"""The probes of pairs: a function beside its counterfactuals (Hooda et al. 2024)."""
