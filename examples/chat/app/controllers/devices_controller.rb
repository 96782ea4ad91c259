# frozen_string_literal: true

# The devices on which the user is signed in.
class DevicesController < ApplicationController
  before_action :require_sign_in

  def index
    @devices = current_user.sign_ins_dataset.reverse(:rotated_at).all
  end

  def destroy
    device = current_user.sign_ins_dataset.with_pk!(params.integer(:id))
    return sign_out_here if device.id == current_sign_in.id
    device.revoke
    redirect_to devices_path, notice: "The device is signed out."
  end

  def others
    SignIn.end_all(current_user.id, except: current_sign_in.id)
    redirect_to devices_path, notice: "All other devices are signed out."
  end

  private

  def sign_out_here
    sign_out
    redirect_to root_path
  end
end
