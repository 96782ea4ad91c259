# frozen_string_literal: true

class SidebarsController < ApplicationController
  before_action :require_sign_in

  def show
    render partial: "sidebars/sidebar" if stale?(sidebar.key)
  end
end
