"""Read entities as trees and render them."""
