"""What tests share: servers and models made for them."""
